// A tile that a guarded body names by a stage of the device is known there only.
// EXPECT: kaio: a tile was used outside the guarded body or loop that made it
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 32>([](thread t, out<f32> y) {
  val i = t.let(thread_idx_x());
#ifdef KAIO_FIXED
  shared_tiles<f32, 8, 32, padded<1>, 2> ring(t);
  const auto tile = ring[i % 2];
  if (auto lower = t.when(i < 16)) tile[0][i] = 1.0f;
#else
  shared_tiles<f32, 8, 32, padded<1>, 2> ring(t);
  const auto of_guard = [&] {
    if (auto lower = t.when(i < 16)) return ring[i % 2];
    return ring[0];
  };
  const auto tile = of_guard();
#endif
  y[i] = tile[0][0];  // HERE
});
static_assert(k.ptx().size() > 0);
