// An integer literal that the floating type of the operand does not hold exactly is refused.
// EXPECT: kaio: an integer literal is not exact in the floating type of the operand
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  y[i] = x[i] + 16777216;
#else
  y[i] = x[i] + 16777217;
#endif
});
static_assert(k.ptx().size() > 0);
