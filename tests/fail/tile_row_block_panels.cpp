// Blocks of rows are taken from one panel.
// EXPECT: kaio: rows are taken from a tile whose rows follow each other
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 32>([](thread t, out<f32> y) {
  val i = t.let(thread_idx_x());
#ifdef KAIO_FIXED
  shared_tile<f32, 16, 64, swizzled<128>> tile(t);
  const auto lower = row_block<8>(tile.panel(0), 8);
#else
  shared_tile<f32, 16, 64, swizzled<128>> tile(t);
  const auto lower = row_block<8>(tile, 8);
#endif
  lower[0][i] = 1.0f;
  y[i] = tile[8][0];
});
static_assert(k.ptx().size() > 0);
