// Which side of a store is evaluated first would decide when its index is loaded.
// EXPECT: kaio: the index of a store reads memory that may change; bind it first
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, inout<u32> bins, inout<u32> histogram) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  val bin = bins[i];
  histogram[bin] += 1;
#else
  histogram[bins[i]] += 1;
#endif
});
static_assert(k.ptx().size() > 0);
