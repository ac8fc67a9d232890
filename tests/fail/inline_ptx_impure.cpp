// An instruction among the lanes of a warp depends on more than its operands.
// EXPECT: kaio: this instruction is not pure: it depends on memory, other lanes or a clock, or changes them; write ptx_effect::memory
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

#ifdef KAIO_FIXED
inline constexpr auto vote = ptx_op<"vote.sync.any.pred", bool(bool, u32), ptx_effect::memory>;
#else
inline constexpr auto vote = ptx_op<"vote.sync.any.pred", bool(bool, u32), ptx_effect::pure>;
#endif
inline constexpr auto k = kernel<"k", 128>([](thread t, out<u32> y) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  y[i] = cast<u32>(vote(t, i > 3, 0xffffffffu));
#else
  y[i] = cast<u32>(vote(i > 3, 0xffffffffu));
#endif
});
static_assert(k.ptx().size() > 0);
