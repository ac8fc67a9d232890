// Matrices are loaded from shared memory.
// EXPECT: kaio: the place must be in the shared memory of this block
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 32>([](thread t, in<f16> x, out<f32> y) {
  shared_tile<f16, 16, 64> tile(t);
#ifdef KAIO_FIXED
  mma_m16n8k16<f32, f16>::a_fragment a(t);
  ldmatrix(a, tile[lane_id() % 16][lane_id() / 16 * 8]);
  y[0] = cast<f32>(a.element(0));
#else
  mma_m16n8k16<f32, f16>::a_fragment a(t);
  ldmatrix(a, x[lane_id() * 8]);
  y[0] = cast<f32>(a.element(0));
#endif
});
static_assert(k.ptx().size() > 0);
