// A number of the host that changes in a loop of the device, as an operand of an instruction by its text.
// EXPECT: kaio:
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto match_lanes = ptx_op<"match.any.sync.b32", u32(u32, u32), ptx_effect::memory>;
inline constexpr auto k = kernel<"k", 128>([](thread t, inout<u32> y) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  var mask(t, 0xffffffffu);
#else
  u32 mask = 0xffffffffu;
#endif
  for (auto round : t.range(0u, 4u)) {
    val lanes = match_lanes(t, i, mask);  // HERE
    y[i + round] = lanes;                 // HERE
#ifdef KAIO_FIXED
    mask = mask >> 1;
#else
    mask >>= 1;
#endif
  }
});
static_assert(k.ptx().size() > 0);
