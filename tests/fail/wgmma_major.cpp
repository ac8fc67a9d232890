// Bytes are read along K.
// EXPECT: kaio: wgmma reads MN-major operands of 16-bit elements only; lay the others out along K
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, out<f32> y) {
  shared_tile<i8, 64, 64, swizzled<64>> a(t);
  shared_tile<i8, 64, 64, swizzled<64>> b(t);
  wgmma_accumulator<i32, 64> acc(t);
  {
    wgmma_batch mma(t);
#ifdef KAIO_FIXED
    mma.multiply_add(acc, wgmma_operand<major::k>(a), wgmma_operand<major::k>(b), false);
#else
    mma.multiply_add(acc, wgmma_operand<major::k>(a), wgmma_operand<major::mn>(b), false);
#endif
  }
  wgmma_wait<0>(t);
  y[t.thread_rank()] = cast<f32>(acc[0]);
});
static_assert(k.ptx().size() > 0);
