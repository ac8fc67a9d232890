// An instruction with an effect is a statement.
// EXPECT: kaio: this ptx_op is a statement, which takes the thread first: op(t, a, b)
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto vote = ptx_op<"vote.sync.any.pred", bool(bool, u32), ptx_effect::memory>;
inline constexpr auto k = kernel<"k", 128>([](thread t, out<u32> y) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  y[i] = cast<u32>(vote(t, i > 3, 0xffffffffu));
#else
  y[i] = cast<u32>(vote(i > 3, 0xffffffffu));
#endif
});
static_assert(k.ptx().size() > 0);
