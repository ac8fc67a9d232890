// The tiles of a ring count as shared memory together.
// EXPECT: kaio: the shared arrays of this kernel take more than 49152 bytes
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 32>([](thread t, out<f32> y) {
  val i = t.let(thread_idx_x());
#ifdef KAIO_FIXED
  shared_tiles<f32, 128, 32, swizzled<128>, 2> ring(t);
  shared<f32, 32> sums(t);
#else
  shared_tiles<f32, 128, 32, swizzled<128>, 3> ring(t);
  shared<f32, 32> sums(t);
#endif
  ring[1][0][i] = 1.0f;
  sums[i] = ring[1][0][i];
  y[i] = sums[i];
});
static_assert(k.ptx().size() > 0);
