// An instruction without a result has an effect.
// EXPECT: kaio: a pure ptx_op has a result; one that does something is ptx_effect::memory or barrier
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

#ifdef KAIO_FIXED
inline constexpr auto order_all = ptx_op<"membar.gl", void(), ptx_effect::memory, ptx_since{.target = {70}}>;
#else
inline constexpr auto order_all = ptx_op<"membar.gl", void(), ptx_effect::pure, ptx_since{.target = {70}}>;
#endif
inline constexpr auto k = kernel<"k", 128>([](thread t, out<u32> y) {
  val i = t.global_id();
  order_all(t);
  y[i] = i;
});
static_assert(k.ptx().size() > 0);
