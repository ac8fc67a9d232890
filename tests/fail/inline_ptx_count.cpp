// An operand is missing.
// EXPECT: kaio: a ptx_op takes the operands that its signature has
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto sum = ptx_op<"add.u32", u32(u32, u32), ptx_effect::pure>;
inline constexpr auto k = kernel<"k", 128>([](thread t, out<u32> y) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  y[i] = sum(i, 3u);
#else
  y[i] = sum(i);
#endif
});
static_assert(k.ptx().size() > 0);
