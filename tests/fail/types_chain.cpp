// C++ compares the bool of a < b with c.
// EXPECT: kaio: bool has no order; use ==, !=, &, | and !, and (a < b) & (b < c) for a < b < c
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, in<u32> w, inout<f32> y, val<u32> n) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  if (auto g = t.when((0u < i) & (i < n))) y[i] = x[i] + cast<f32>(w[i]);
#else
  if (auto g = t.when(0u < i < n)) y[i] = x[i] + cast<f32>(w[i]);
#endif
});
static_assert(k.ptx().size() > 0);
