// A layout is one of four.
// EXPECT: kaio: the layout of a tile is row_major, column_major, padded<elements> or swizzled<128>
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 32>([](thread t, out<f32> y) {
  val i = t.let(thread_idx_x());
#ifdef KAIO_FIXED
  shared_tile<f32, 8, 32, padded<1>> tile(t);
#else
  shared_tile<f32, 8, 32, f32> tile(t);
#endif
  tile[0][i] = 1.0f;
  y[i] = tile[0][0];
});
static_assert(k.ptx().size() > 0);
