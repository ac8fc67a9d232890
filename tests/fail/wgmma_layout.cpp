// Descriptors describe swizzled tiles.
// EXPECT: kaio: wgmma reads swizzled tiles, shared_tile<T, rows, columns, swizzled<128>>
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, out<f32> y) {
#ifdef KAIO_FIXED
  shared_tile<f16, 64, 64, swizzled<128>> a(t);
#else
  shared_tile<f16, 64, 64, row_major> a(t);
#endif
  shared_tile<f16, 32, 64, swizzled<128>> b(t);
  wgmma_accumulator<f32, 32> acc(t);
  {
    wgmma_batch mma(t);
    mma.multiply_add(acc, wgmma_operand<major::k>(a), wgmma_operand<major::k>(b), false);  // HERE
  }
  wgmma_wait<0>(t);
  y[t.thread_rank()] = acc[0];
});
static_assert(k.ptx().size() > 0);
