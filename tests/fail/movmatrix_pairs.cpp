// movmatrix transposes elements of 16 bits.
// EXPECT: kaio: movmatrix_trans takes two elements of 16 bits: u32, f16x2 or bf16x2
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 32>([](thread t, in<f16> x, out<f32> y) {
  shared_tile<f16, 16, 64> tile(t);
#ifdef KAIO_FIXED
  y[0] = cast<f32>(low(movmatrix_trans(pack(t.let(x[0]), t.let(x[1])))));
#else
  y[0] = cast<f32>(movmatrix_trans(t.let(cast<f32>(x[0]))));
#endif
});
static_assert(k.ptx().size() > 0);
