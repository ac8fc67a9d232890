// All instructions but one have A by rows and B by columns.
// EXPECT: kaio: only mma_m8n8k4 of f16 has other orders than A by rows and B by columns
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 32>([](thread t, in<f16> x, out<f32> y) {
  shared_tile<f16, 16, 64> tile(t);
#ifdef KAIO_FIXED
  using mma = mma_m8n8k4<f32, f16, f16, f32, matrix_order::col, matrix_order::row>;
  mma::accumulator c(t, 0.0f);
  y[0] = c.element(0);
#else
  using mma = mma_m8n8k4<f64, f64, f64, f64, matrix_order::col, matrix_order::row>;
  mma::accumulator c(t, 0.0);
  y[0] = cast<f32>(c.element(0));
#endif
});
static_assert(k.ptx().size() > 0);
