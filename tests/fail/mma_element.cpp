// A lane holds few elements of a fragment.
// EXPECT: kaio: a lane holds fewer elements of this fragment
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 32>([](thread t, in<f16> x, out<f32> y) {
  shared_tile<f16, 16, 64> tile(t);
#ifdef KAIO_FIXED
  mma_m16n8k16<f32, f16>::accumulator c(t, 0.0f);
  y[0] = c.element(3);
#else
  mma_m16n8k16<f32, f16>::accumulator c(t, 0.0f);
  y[0] = c.element(4);
#endif
});
static_assert(k.ptx().size() > 0);
