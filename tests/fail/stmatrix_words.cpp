// stmatrix takes pairs of 16 bits.
// EXPECT: kaio: stmatrix takes registers of 32 bits
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 32>([](thread t, in<f16> x, out<f32> y) {
  shared_tile<f16, 16, 64> tile(t);
#ifdef KAIO_FIXED
  val pair = pack<f16x2>(cast<f32>(t.let(x[0])), cast<f32>(t.let(x[1])));
  stmatrix_x1(tile[lane_id() % 8][0], pair);
  y[0] = 0.0f;
#else
  stmatrix_x1(tile[lane_id() % 8][0], t.let(x[0]));
  y[0] = 0.0f;
#endif
});
static_assert(k.ptx().size() > 0);
