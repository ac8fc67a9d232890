// A swizzle has one of three widths.
// EXPECT: kaio: a swizzle is of 128, 64 or 32 bytes
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 32>([](thread t, out<f32> y) {
  val i = t.let(thread_idx_x());
#ifdef KAIO_FIXED
  shared_tile<f32, 8, 64, swizzled<128>> tile(t);
#else
  shared_tile<f32, 8, 64, swizzled<256>> tile(t);
#endif
  tile[0][i] = 1.0f;  // HERE
  y[i] = tile[0][0];
});
static_assert(k.ptx().size() > 0);
