// Both operands have the same K.
// EXPECT: kaio: the operands of a wgmma have different numbers of slices along K; take slice(k) of each
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, out<f32> y) {
  shared_tile<f16, 64, 64, swizzled<128>> a(t);
  shared_tile<f16, 32, 64, swizzled<128>> b(t);
  wgmma_accumulator<f32, 32> acc(t);
  {
    wgmma_batch mma(t);
#ifdef KAIO_FIXED
    mma.multiply_add(acc, wgmma_operand<major::k>(a).slice(0), wgmma_operand<major::k>(b).slice(0), false);
#else
    mma.multiply_add(acc, wgmma_operand<major::k>(a), wgmma_operand<major::k>(b).slice(0), false);
#endif
  }
  wgmma_wait<0>(t);
  y[t.thread_rank()] = acc[0];
});
static_assert(k.ptx().size() > 0);
