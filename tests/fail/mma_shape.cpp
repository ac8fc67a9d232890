// e4m3 has the shapes m16n8k16 and m16n8k32.
// EXPECT: kaio: PTX has no mma of this shape and these types
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 32>([](thread t, in<f16> x, out<f32> y) {
  shared_tile<f16, 16, 64> tile(t);
#ifdef KAIO_FIXED
  using mma = mma_m16n8k32<f32, e4m3>;
  mma::accumulator c(t, 0.0f);
  y[0] = c.element(0);
#else
  using mma = mma_m16n8k64<f32, e4m3>;
  mma::accumulator c(t, 0.0f);
  y[0] = c.element(0);
#endif
});
static_assert(k.ptx().size() > 0);
