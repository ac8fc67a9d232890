// The panels of a swizzled tile begin where the swizzle does.
// EXPECT: kaio: a swizzled tile of several panels has a multiple of 8 rows
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 32>([](thread t, out<f32> y) {
  val i = t.let(thread_idx_x());
#ifdef KAIO_FIXED
  shared_tile<f32, 16, 64, swizzled<128>> tile(t);
#else
  shared_tile<f32, 12, 64, swizzled<128>> tile(t);
#endif
  tile[0][i] = 1.0f;
  y[i] = tile[0][0];
});
static_assert(k.ptx().size() > 0);
