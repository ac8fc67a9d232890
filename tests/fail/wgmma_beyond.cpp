// B has the columns of the accumulator.
// EXPECT: kaio: wgmma reads beyond the tile: A has fewer than 64 rows from there on, or B fewer columns
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, out<f32> y) {
  shared_tile<f16, 64, 64, swizzled<128>> a(t);
  shared_tile<f16, 32, 64, swizzled<128>> b(t);
#ifdef KAIO_FIXED
  wgmma_accumulator<f32, 32> acc(t);
#else
  wgmma_accumulator<f32, 40> acc(t);
#endif
  {
    wgmma_batch mma(t);
    mma.multiply_add(acc, wgmma_operand<major::k>(a), wgmma_operand<major::k>(b), false);  // HERE
  }
  wgmma_wait<0>(t);
  y[t.thread_rank()] = acc[0];
});
static_assert(k.ptx().size() > 0);
