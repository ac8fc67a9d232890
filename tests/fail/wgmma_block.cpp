// A warpgroup has 128 threads.
// EXPECT: kaio: wgmma needs whole warpgroups; take a block of 128 threads or more
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

#ifdef KAIO_FIXED
inline constexpr u32 threads = 128;
#else
inline constexpr u32 threads = 96;
#endif

inline constexpr auto k = kernel<"k", threads>([](thread t, out<f32> y) {
  shared_tile<f16, 64, 64, swizzled<128>> a(t);
  shared_tile<f16, 32, 64, swizzled<128>> b(t);
  wgmma_accumulator<f32, 32> acc(t);
  {
    wgmma_batch mma(t);  // HERE
    mma.multiply_add(acc, wgmma_operand<major::k>(a), wgmma_operand<major::k>(b), false);
  }
  wgmma_wait<0>(t);
  y[t.thread_rank()] = acc[0];
});
static_assert(k.ptx().size() > 0);
