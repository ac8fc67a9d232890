// Bits are not multiplied but compared.
// EXPECT: kaio: bits are multiplied by xor_popc or and_popc
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 32>([](thread t, in<f16> x, out<f32> y) {
  shared_tile<f16, 16, 64> tile(t);
#ifdef KAIO_FIXED
  using mma = mma_m16n8k256<i32, b1>;
  mma::accumulator c(t, 0);
  mma::a_fragment a(t, 1);
  mma::b_fragment b(t, 1);
  mma::xor_popc(c, a, b);
  y[0] = cast<f32>(c.element(0));
#else
  using mma = mma_m16n8k256<i32, b1>;
  mma::accumulator c(t, 0);
  mma::a_fragment a(t, 1);
  mma::b_fragment b(t, 1);
  mma::multiply_add(c, a, b);
  y[0] = cast<f32>(c.element(0));
#endif
});
static_assert(k.ptx().size() > 0);
