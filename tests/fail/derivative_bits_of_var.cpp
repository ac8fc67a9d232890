// The bits of a float in an integer var are no constant.
// EXPECT: kaio: derivative of a var that was written after the variable
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y) {
  val i = t.global_id();
  val s = x[i];
#ifdef KAIO_FIXED
  var count(t, 0u);
  for (auto j : t.range(0u, 4u)) count += j;
  val z = s * cast<f32>(count) + x[count];
#else
  var bits(t, bit_cast<u32>(s));
  val z = bit_cast<f32>(bits) * 2.0f;  // HERE
#endif
  y[i] = derivative(z, s);
});
static_assert(k.ptx().size() > 0);
