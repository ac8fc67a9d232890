// A tile belongs to a kernel.
// EXPECT: kaio: a tile needs its thread
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 32>([](thread t, out<f32> y) {
  val i = t.let(thread_idx_x());
#ifdef KAIO_FIXED
  shared_tile<f32, 8, 32, padded<1>> tile(t);
#else
  shared_tile<f32, 8, 32, padded<1>> tile;
#endif
  tile[0][i] = 1.0f;
  y[i] = tile[0][0];
});
static_assert(k.ptx().size() > 0);
