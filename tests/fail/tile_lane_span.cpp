// A place in a swizzled tile advances by multiples of its span, as sums of columns swizzle by parts.
// EXPECT: kaio: a place in a swizzled tile moves by multiples of its span of columns
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 32>([](thread t, out<f32> y) {
  val i = t.let(thread_idx_x());
#ifdef KAIO_FIXED
  shared_tile<f32, 8, 32, swizzled<128>> tile(t);
  const auto lane = tile.lane(i % 8, i / 8, 4);
#else
  shared_tile<f32, 8, 32, swizzled<128>> tile(t);
  const auto lane = tile.lane(i % 8, i / 8);
#endif
  tile.at(lane, 0, 4) = 1.0f;  // HERE
  y[i] = tile[0][0];
});
static_assert(k.ptx().size() > 0);
