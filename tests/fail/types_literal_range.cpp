// A literal that the operand's type does not hold is refused.
// EXPECT: kaio: a literal does not fit the integer type of the operand
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  y[i - 1] = 0.0f;
#else
  y[i + -1] = 0.0f;
#endif
});
static_assert(k.ptx().size() > 0);
