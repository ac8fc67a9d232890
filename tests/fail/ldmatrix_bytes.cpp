// ldmatrix.trans exchanges elements of 16 bits.
// EXPECT: kaio: ldmatrix_trans exchanges rows and columns of elements of 16 bits only
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 32>([](thread t, in<f16> x, out<f32> y) {
  shared_tile<f16, 16, 64> tile(t);
#ifdef KAIO_FIXED
  mma_m16n8k16<f32, f16>::a_fragment a(t);
  ldmatrix_trans(a, tile, 0, 0);
  y[0] = cast<f32>(a.element(0));
#else
  shared_tile<e4m3, 32, 64> bytes(t);
  mma_m16n8k32<f32, e4m3>::a_fragment a(t);
  ldmatrix_trans(a, bytes, 0, 0);
  y[0] = 0.0f;
#endif
});
static_assert(k.ptx().size() > 0);
