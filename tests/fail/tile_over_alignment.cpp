// A swizzled tile needs memory that is aligned for it.
// EXPECT: kaio: a tile is over memory that is aligned for less
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 32>([](thread t, out<f32> y) {
  val i = t.let(thread_idx_x());
#ifdef KAIO_FIXED
  shared_tile<f32, 16, 32, swizzled<128>> tile(t);
  const auto again = shared_tile<f32, 16, 32, swizzled<64>>::over(tile);
#else
  shared_tile<f32, 16, 32, row_major> tile(t);
  const auto again = shared_tile<f32, 16, 32, swizzled<128>>::over(tile);
#endif
  again[0][i] = 1.0f;
  y[i] = tile[0][0];
});
static_assert(k.ptx().size() > 0);
