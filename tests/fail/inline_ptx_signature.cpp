// The types of the operands are missing.
// EXPECT: kaio: the second argument of ptx_op is the type of a function: u32(u32, u32) has one result and two operands
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

#ifdef KAIO_FIXED
inline constexpr auto ones = ptx_op<"popc.b32", u32(u32), ptx_effect::pure>;
#else
inline constexpr auto ones = ptx_op<"popc.b32", u32, ptx_effect::pure>;
#endif
inline constexpr auto k = kernel<"k", 128>([](thread t, out<u32> y) {
  val i = t.global_id();
  y[i] = ones(i);
});
static_assert(k.ptx().size() > 0);
