// A local array that is written between the variable and the expression.
// EXPECT: kaio: derivative of an element of a local array
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  val i = t.global_id();
  val s = x[i];
#ifdef KAIO_FIXED
  val z = s * s;
#else
  local<f32, 4> powers(t);
  powers[1u] = s;
  val z = s * powers[n & 1u];  // HERE
#endif
  y[i] = derivative(z, s);
});
static_assert(k.ptx().size() > 0);
