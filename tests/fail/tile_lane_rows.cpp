// A place in a swizzled tile advances by multiples of 8 rows, after which the swizzle is the same.
// EXPECT: kaio: a place in a swizzled tile moves by multiples of 8 rows
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 32>([](thread t, out<f32> y) {
  val i = t.let(thread_idx_x());
#ifdef KAIO_FIXED
  shared_tile<f32, 32, 32, swizzled<128>> tile(t);
  const auto lane = tile.lane(i % 8, 0);
  tile.at(lane, 16) = 1.0f;
#else
  shared_tile<f32, 32, 32, swizzled<128>> tile(t);
  const auto lane = tile.lane(i % 8, 0);
  tile.at(lane, 20) = 1.0f;
#endif
  y[i] = tile[0][0];
});
static_assert(k.ptx().size() > 0);
