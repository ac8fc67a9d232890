// D of another type than C is not written over C.
// EXPECT: kaio: C has another type than D; write multiply_add(d, a, b, c)
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 32>([](thread t, in<f16> x, out<f32> y) {
  shared_tile<f16, 16, 64> tile(t);
#ifdef KAIO_FIXED
  using mma = mma_m8n8k4<f32, f16, f16, f16>;
  mma::accumulator c(t, 0.0f);
  mma::result d(t);
  mma::a_fragment a(t, 1.0f);
  mma::b_fragment b(t, 1.0f);
  mma::multiply_add(d, a, b, c);
  y[0] = d.element(0);
#else
  using mma = mma_m8n8k4<f32, f16, f16, f16>;
  mma::accumulator c(t, 0.0f);
  mma::a_fragment a(t, 1.0f);
  mma::b_fragment b(t, 1.0f);
  mma::multiply_add(c, a, b);
  y[0] = cast<f32>(c.element(0));
#endif
});
static_assert(k.ptx().size() > 0);
