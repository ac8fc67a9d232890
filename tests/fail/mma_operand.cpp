// The operands of mma are fragments A and B, in this order.
// EXPECT: kaio: 
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 32>([](thread t, out<f32> y) {
  using product = mma_m16n8k16<f32, f16>;
  product::a a(t, 0.0f);
  product::b b(t, 0.0f);
  product::accumulator c(t, 0.0f);
#ifdef KAIO_FIXED
  mma(c, a, b);
#else
  mma(c, b, a);  // HERE
#endif
  y[0] = c.element(0);
});
static_assert(k.ptx().size() > 0);
