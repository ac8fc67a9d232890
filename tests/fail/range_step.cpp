// A range needs a step.
// EXPECT: kaio: the step of a range() is 0
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  for (auto k : t.range(i, n, 2)) y[k] = 0.0f;
#else
  for (auto k : t.range(i, n, 0)) y[k] = 0.0f;
#endif
});
static_assert(k.ptx().size() > 0);
