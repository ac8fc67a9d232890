// A range has two ends.
// EXPECT: kaio: range() takes the first and the last: t.range(0u, n)
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  for (auto k : t.range(0u, n)) y[k] = x[i];
#else
  for (auto k : t.range(n)) y[k] = x[i];
#endif
});
static_assert(k.ptx().size() > 0);
