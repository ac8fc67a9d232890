// Packed pairs have no derivative.
// EXPECT: kaio: derivative of a packed pair
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  val i = t.global_id();
  val s = x[i];
#ifdef KAIO_FIXED
  val z = s * cast<f32>(cast<f16>(s));
#else
  val pair = pack<f16x2>(s, s);  // HERE
  val z = s * cast<f32>(low(pair));
#endif
  y[i] = derivative(z, s);
});
static_assert(k.ptx().size() > 0);
