// A tile over other memory fits into it.
// EXPECT: kaio: a tile is over memory that is smaller than the tile
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 32>([](thread t, out<f32> y) {
  val i = t.let(thread_idx_x());
#ifdef KAIO_FIXED
  shared_tile<f32, 16, 32, swizzled<128>> tile(t);
  const auto again = shared_tile<f32, 8, 32, row_major>::over(tile);
#else
  shared_tile<f32, 16, 32, swizzled<128>> tile(t);
  const auto again = shared_tile<f32, 32, 32, row_major>::over(tile);
#endif
  again[0][i] = 1.0f;
  y[i] = tile[0][0];
});
static_assert(k.ptx().size() > 0);
