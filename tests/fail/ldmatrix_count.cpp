// One instruction moves at most 4 matrices.
// EXPECT: kaio: ldmatrix and stmatrix move 1, 2 or 4 matrices of 8 x 16 bytes
// LATE(clang): each template between the check and the kernel is three lines
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 32>([](thread t, in<f16> x, out<f32> y) {
  shared_tile<f16, 16, 64> tile(t);
#ifdef KAIO_FIXED
  mma_m16n8k16<f32, f16>::a_fragment a(t);
  ldmatrix(a, tile, 0, 0);
  y[0] = cast<f32>(a.element(0));
#else
  mma_m16n8k16<f32, f16>::a_fragment a(t), b(t);
  ldmatrix(a, b, tile[0][0]);
  y[0] = cast<f32>(a.element(0));
#endif
});
static_assert(k.ptx().size() > 0);
