// One instruction, not two.
// EXPECT: kaio: the text of a ptx_op is one instruction without its semicolon, braces around it or a guard
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

#ifdef KAIO_FIXED
inline constexpr auto count = ptx_op<"popc.b32 $0, $1", u32(u32), ptx_effect::pure>;
#else
inline constexpr auto count = ptx_op<"popc.b32 $0, $1; not.b32 $0, $0", u32(u32), ptx_effect::pure>;
#endif
inline constexpr auto k = kernel<"k", 128>([](thread t, out<u32> y) {
  val i = t.global_id();
  y[i] = count(i);
});
static_assert(k.ptx().size() > 0);
