// Only floats have derivatives.
// EXPECT: kaio: derivative takes an expression of f64, f32, f16 or bf16
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  val i = t.global_id();
  val s = x[i];
#ifdef KAIO_FIXED
  y[i] = derivative(floor(s * s), s);
#else
  val z = derivative(cast<i32>(s * s), s);
#endif
});
static_assert(k.ptx().size() > 0);
