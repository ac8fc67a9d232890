// Not all types go together.
// EXPECT: kaio: no wgmma has these elements
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, out<f32> y) {
  shared_tile<f16, 64, 64, swizzled<128>> a(t);
#ifdef KAIO_FIXED
  shared_tile<f16, 32, 64, swizzled<128>> b(t);
#else
  shared_tile<bf16, 32, 64, swizzled<128>> b(t);
#endif
  wgmma_accumulator<f32, 32> acc(t);
  {
    wgmma_batch mma(t);
    mma.multiply_add(acc, wgmma_operand<major::k>(a), wgmma_operand<major::k>(b), false);  // HERE
  }
  wgmma_wait<0>(t);
  y[t.thread_rank()] = acc[0];
});
static_assert(k.ptx().size() > 0);
