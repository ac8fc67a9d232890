// A range counts in integers.
// EXPECT: kaio: the bounds of a range() are integers
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  for (auto k : t.range(0u, cast<u32>(x[i]))) y[k] = 0.0f;
#else
  for (auto k : t.range(0.0f, x[i])) y[i] = k;
#endif
});
static_assert(k.ptx().size() > 0);
