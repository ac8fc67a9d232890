// A pure instruction is an expression.
// EXPECT: kaio: a pure ptx_op with one result is an expression, which takes its operands alone, without t
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto count = ptx_op<"popc.b32", u32(u32), ptx_effect::pure>;
inline constexpr auto k = kernel<"k", 128>([](thread t, out<u32> y) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  y[i] = count(i);
#else
  y[i] = count(t, i);
#endif
});
static_assert(k.ptx().size() > 0);
