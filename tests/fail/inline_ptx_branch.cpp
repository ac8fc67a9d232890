// Control flow is the language's own.
// EXPECT: kaio: a ptx_op cannot branch; write t.when(condition), a loop or break_if
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

#ifdef KAIO_FIXED
inline constexpr auto leave = ptx_op<"membar.gl", void(), ptx_effect::memory, ptx_since{.target = {70}}>;
#else
inline constexpr auto leave = ptx_op<"exit", void(), ptx_effect::memory, ptx_since{.target = {70}}>;
#endif
inline constexpr auto k = kernel<"k", 128>([](thread t, out<u32> y) {
  val i = t.global_id();
  leave(t);
  y[i] = i;
});
static_assert(k.ptx().size() > 0);
