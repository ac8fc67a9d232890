// Floating sums do not saturate.
// EXPECT: kaio: multiply_add_saturated is for i8, u8, i4 and u4
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 32>([](thread t, in<f16> x, out<f32> y) {
  shared_tile<f16, 16, 64> tile(t);
#ifdef KAIO_FIXED
  using mma = mma_m16n8k16<f32, f16>;
  mma::accumulator c(t, 0.0f);
  mma::a_fragment a(t, 1.0f);
  mma::b_fragment b(t, 1.0f);
  mma::multiply_add(c, a, b);
  y[0] = c.element(0);
#else
  using mma = mma_m16n8k16<f32, f16>;
  mma::accumulator c(t, 0.0f);
  mma::a_fragment a(t, 1.0f);
  mma::b_fragment b(t, 1.0f);
  mma::multiply_add_saturated(c, a, b);
  y[0] = c.element(0);
#endif
});
static_assert(k.ptx().size() > 0);
