// A conversion to an integer has no derivative; rounding to a whole float has 0.
// EXPECT: kaio: derivative of a conversion to an integer
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  val i = t.global_id();
  val s = x[i];
#ifdef KAIO_FIXED
  val z = s * floor(s);
#else
  val z = s * cast<f32>(cast<i32>(s));  // HERE
#endif
  y[i] = derivative(z, s);
});
static_assert(k.ptx().size() > 0);
