// The places of several results in the text are not known.
// EXPECT: kaio: a ptx_op with several results names its operands, as match.all.sync.b32 $0|$1, $2, $3 does
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

#ifdef KAIO_FIXED
inline constexpr auto halves = ptx_op<"mov.b64 {$0, $1}, $2", ptx_results<u32, u32>(u64), ptx_effect::pure>;
#else
inline constexpr auto halves = ptx_op<"mov.b64", ptx_results<u32, u32>(u64), ptx_effect::pure>;
#endif
inline constexpr auto k = kernel<"k", 128>([](thread t, out<u32> y) {
  val i = t.global_id();
  const auto [low, high] = halves(t, cast<u64>(i));
  y[i] = low + high;
});
static_assert(k.ptx().size() > 0);
