// The rows of a swizzled tile are multiples of the swizzle.
// EXPECT: kaio: a row of a swizzled tile has a multiple of the bytes of the swizzle
// LATE(clang): what follows the failed requirement is evaluated too
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 32>([](thread t, out<f32> y) {
  val i = t.let(thread_idx_x());
#ifdef KAIO_FIXED
  shared_tile<f32, 8, 16, swizzled<64>> tile(t);
#else
  shared_tile<f32, 8, 16, swizzled<128>> tile(t);
#endif
  tile[0][i % 16] = 1.0f;
  y[i] = tile[0][0];
});
static_assert(k.ptx().size() > 0);
