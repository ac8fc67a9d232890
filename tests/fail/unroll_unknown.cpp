// Only known rounds can be unrolled wholly.
// EXPECT: kaio: unroll() needs constant bounds and step; write unroll<4>() for four copies
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  for (auto k : t.range(0u, n).unroll<4>()) y[k] = x[k];
#else
  for (auto k : t.range(0u, n).unroll()) y[k] = x[k];
#endif
});
static_assert(k.ptx().size() > 0);
