// An operand that the text forgets.
// EXPECT: kaio: the text of a ptx_op does not name all results and operands: $0, $1, ...
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

#ifdef KAIO_FIXED
inline constexpr auto sum = ptx_op<"add.u32 $0, $1, $2", u32(u32, u32), ptx_effect::pure>;
#else
inline constexpr auto sum = ptx_op<"add.u32 $0, $1, $1", u32(u32, u32), ptx_effect::pure>;
#endif
inline constexpr auto k = kernel<"k", 128>([](thread t, out<u32> y) {
  val i = t.global_id();
  y[i] = sum(i, 3u);
});
static_assert(k.ptx().size() > 0);
