// The function of an instruction written as text is not known.
// EXPECT: kaio: derivative of a ptx_op
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  val i = t.global_id();
  val s = x[i];
#ifdef KAIO_FIXED
  val z = s * tanh(s);
#else
  val z = s * ptx_op<"tanh.approx.f32", f32(f32), ptx_effect::pure>(s);  // HERE
#endif
  y[i] = derivative(z, s);
});
static_assert(k.ptx().size() > 0);
