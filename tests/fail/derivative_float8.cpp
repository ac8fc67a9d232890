// A float of 8 bits is a step function of the number it was rounded from; its steps are too wide to be ignored.
// EXPECT: kaio: derivative of a bit_cast, or of a conversion to e4m3 or e5m2
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  val i = t.global_id();
  val s = x[i];
#ifdef KAIO_FIXED
  val z = s * cast<f32>(cast<f16>(s));
#else
  val z = s * cast<f32>(cast<e4m3>(s));  // HERE
#endif
  y[i] = derivative(z, s);
});
static_assert(k.ptx().size() > 0);
