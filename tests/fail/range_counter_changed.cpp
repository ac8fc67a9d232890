// The counter of a range is a val.
// EXPECT: kaio: a val never changes; declare a var to assign to
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  for (auto k : t.range(2u, n)) y[k] = x[i];
#else
  for (auto k : t.range(0u, n)) {
    k += 2u;
    y[k] = x[i];
  }
#endif
});
static_assert(k.ptx().size() > 0);
