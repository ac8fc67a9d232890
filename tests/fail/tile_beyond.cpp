// A row or column that the host knows is inside the tile.
// EXPECT: kaio: an index is outside its array
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 32>([](thread t, out<f32> y) {
  val i = t.let(thread_idx_x());
#ifdef KAIO_FIXED
  shared_tile<f32, 8, 32, swizzled<128>> tile(t);
  tile[i % 8][31] = 1.0f;
#else
  shared_tile<f32, 8, 32, swizzled<128>> tile(t);
  tile[i % 8][32] = 1.0f;
#endif
  y[i] = tile[0][0];
});
static_assert(k.ptx().size() > 0);
