// The bits of a float are no arithmetic.
// EXPECT: kaio: derivative of a bit_cast
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  val i = t.global_id();
  val s = x[i];
#ifdef KAIO_FIXED
  val z = abs(s);
#else
  val z = bit_cast<f32>(bit_cast<u32>(s) & 0x7fffffffu);  // HERE
#endif
  y[i] = derivative(z, s);
});
static_assert(k.ptx().size() > 0);
