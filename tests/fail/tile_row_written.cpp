// A row of a tile is written element by element.
// EXPECT: kaio: a row of a tile is written element by element
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 32>([](thread t, out<f32> y) {
  val i = t.let(thread_idx_x());
#ifdef KAIO_FIXED
  shared_tile<f32, 8, 32, padded<1>> tile(t);
  tile[i % 8][0] = 1.0f;
#else
  shared_tile<f32, 8, 32, padded<1>> tile(t);
  tile[i % 8] = 1.0f;
#endif
  y[i] = tile[0][0];
});
static_assert(k.ptx().size() > 0);
