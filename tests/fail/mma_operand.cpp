// The operands of mma are its fragments A and B, in this order.
// EXPECT: kaio: multiply_add takes the accumulator, a_fragment and b_fragment of this instruction
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 32>([](thread t, out<f32> y) {
  using product = mma_m16n8k16<f32, f16>;
  product::a_fragment a(t, 1.0f);
  product::b_fragment b(t, 1.0f);
  product::accumulator c(t, 0.0f);
#ifdef KAIO_FIXED
  product::multiply_add(c, a, b);
#else
  product::multiply_add(c, b, a);  // HERE
#endif
  y[0] = c.element(0);
});
static_assert(k.ptx().size() > 0);
