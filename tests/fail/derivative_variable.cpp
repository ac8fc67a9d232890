// The variable is a val: a var has many values.
// EXPECT: kaio: derivative is taken by a val of f64, f32, f16 or bf16 that knows its kernel
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  val i = t.global_id();
  var s = x[i];
#ifdef KAIO_FIXED
  val now = s;
  y[i] = derivative(now * now, now);
#else
  y[i] = derivative(s * s, s);
#endif
});
static_assert(k.ptx().size() > 0);
