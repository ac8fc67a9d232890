// A tile over other memory ends before the memory does.
// EXPECT: kaio: a tile is over memory that ends before the tile does
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 32>([](thread t, out<f32> y) {
  val i = t.let(thread_idx_x());
#ifdef KAIO_FIXED
  shared_tile<f32, 16, 32, row_major> tile(t);
  const auto again = shared_tile<f32, 8, 32, row_major>::over(tile, 1024);
#else
  shared_tile<f32, 16, 32, row_major> tile(t);
  const auto again = shared_tile<f32, 8, 32, row_major>::over(tile, 1152);
#endif
  again[0][i] = 1.0f;
  y[i] = tile[8][0];
});
static_assert(k.ptx().size() > 0);
