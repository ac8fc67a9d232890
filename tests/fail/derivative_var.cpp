// A var that is written between the variable and the expression may depend on it in ways that the expression does
// not show: by a guarded body, or a loop.
// EXPECT: kaio: derivative of a var that was written after the variable
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  val i = t.global_id();
  val s = x[i];
#ifdef KAIO_FIXED
  val z = s * select(s > 1.0f, s, 0.0f);
#else
  var factor(t, 0.0f);
  if (auto large = t.when(s > 1.0f)) factor = s;
  val z = s * factor;  // HERE
#endif
  y[i] = derivative(z, s);
});
static_assert(k.ptx().size() > 0);
