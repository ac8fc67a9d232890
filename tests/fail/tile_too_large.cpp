// A tile fits into the shared memory of a block.
// EXPECT: kaio: the tile is larger than the shared memory of a block
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 32>([](thread t, out<f32> y) {
  val i = t.let(thread_idx_x());
#ifdef KAIO_FIXED
  shared_tile<f32, 128, 64, padded<4>> tile(t);
#else
  shared_tile<f32, 1024, 64, padded<4>> tile(t);
#endif
  tile[0][i] = 1.0f;
  y[i] = tile[0][0];
});
static_assert(k.ptx().size() > 0);
