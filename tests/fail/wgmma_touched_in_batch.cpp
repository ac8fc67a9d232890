// Writes of the threads come before the fence.
// EXPECT: kaio: the product uses registers that were read or
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, out<f32> y) {
  shared_tile<f16, 64, 64, swizzled<128>> a(t);
  shared_tile<f16, 32, 64, swizzled<128>> b(t);
  wgmma_accumulator<f32, 32> acc(t);
#ifdef KAIO_FIXED
  acc.clear();
#else
#endif
  {
    wgmma_batch mma(t);
#ifdef KAIO_FIXED
#else
    acc.clear();
#endif
    mma.multiply_add(acc, wgmma_operand<major::k>(a), wgmma_operand<major::k>(b));  // HERE
  }
  wgmma_wait<0>(t);
  y[t.thread_rank()] = acc[0];
});
static_assert(k.ptx().size() > 0);
