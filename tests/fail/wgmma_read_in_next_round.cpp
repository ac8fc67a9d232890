// A group that is in flight at the end of a loop is so at its beginning too.
// EXPECT: kaio: an accumulator is read or written while wgmma may
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, out<f32> y) {
  shared_tile<f16, 64, 64, swizzled<128>> a(t);
  shared_tile<f16, 32, 64, swizzled<128>> b(t);
  wgmma_accumulator<f32, 32> acc(t);
  acc.clear();
  for (auto k : t.range(0u, 8u)) {
#ifdef KAIO_FIXED
    wgmma_wait<0>(t);
#else
#endif
    acc[3] *= 2.0f;  // HERE
    {
      wgmma_batch mma(t);
      mma.multiply_add(acc, wgmma_operand<major::k>(a), wgmma_operand<major::k>(b), false);
    }
  }
  wgmma_wait<0>(t);
  y[t.thread_rank()] = acc[0];
});
static_assert(k.ptx().size() > 0);
