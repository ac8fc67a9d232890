// Unrolling is for few rounds.
// EXPECT: kaio: unroll() makes at most 256 copies
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  for (auto k : t.range(0u, 1000).unroll<8>()) y[k] = x[k];
#else
  for (auto k : t.range(0u, 1000).unroll()) y[k] = x[k];
#endif
});
static_assert(k.ptx().size() > 0);
