// The registers of A belong to wgmma until the group is waited for.
// EXPECT: kaio: the registers of A are written while wgmma may
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, out<f32> y) {
  shared_tile<f16, 32, 16, swizzled<32>> b(t);
  wgmma_accumulator<f32, 32> acc(t);
  val x = t.thread_rank();
  acc.clear();
  for (auto k : t.range(0u, 8u)) {
    const wgmma_register_operand<f16> a(x + k, x, x, x);  // HERE
    {
      wgmma_batch mma(t);
      mma.multiply_add(acc, a, wgmma_operand<major::k>(b));
    }
#ifdef KAIO_FIXED
    wgmma_wait<0>(t);
#else
    wgmma_wait<1>(t);
#endif
  }
  wgmma_wait<0>(t);
  y[t.thread_rank()] = acc[0];
});
static_assert(k.ptx().size() > 0);
