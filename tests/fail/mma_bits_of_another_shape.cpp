// Registers of fragments of another shape are not those of this product.
// EXPECT: kaio: multiply_add_bits takes fragments of A and B of this shape, with elements of equally many bits
#include <kaio/kaio.hpp>
using namespace kaio;
inline constexpr auto product =
    kernel<"product", 32, kernel_options{.target = {80}}>([](thread t, out<f32> y) {
      using wide = mma_m16n8k16<f32, bf16>;
#ifdef KAIO_FIXED
      using kept = mma_m16n8k16<f32, f16>;
#else
      using kept = mma_m16n8k8<f32, f16>;
#endif
      kept::a_fragment a(t, f16(1.0f));
      kept::b_fragment b(t, f16(1.0f));
      wide::accumulator c(t, 0.0f);
      wide::multiply_add_bits(c, a, b);  // HERE
      y[0] = c.element(0);
    });
static_assert(product.ptx().contains("mma.sync"));
