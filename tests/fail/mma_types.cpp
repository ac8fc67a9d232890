// PTX has no such instruction: bf16 sums in f32.
// EXPECT: kaio: PTX has no mma of this shape and these types
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 32>([](thread t, in<f16> x, out<f32> y) {
  shared_tile<f16, 16, 64> tile(t);
#ifdef KAIO_FIXED
  using mma = mma_m16n8k16<f32, bf16>;
  mma::accumulator c(t, 0.0f);
  y[0] = c.element(0);
#else
  using mma = mma_m16n8k16<f16, bf16>;
  mma::accumulator c(t, 0.0f);
  y[0] = cast<f32>(c.element(0));
#endif
});
static_assert(k.ptx().size() > 0);
