// A literal that is finite stays so.
// EXPECT: kaio: a literal is too large for the floating type of the operand
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f16> x, inout<f16> y) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  y[i] = x[i] + 65504.0f;
#else
  y[i] = x[i] + 70000.0f;
#endif
});
static_assert(k.ptx().size() > 0);
