// The registers of A are written before the fence.
// EXPECT: kaio: the registers of A are written inside a wgmma_batch; make the operand before the batch
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, out<f32> y) {
  shared_tile<f16, 32, 16, swizzled<32>> b(t);
  wgmma_accumulator<f32, 32> acc(t);
  val x = t.thread_rank();
#ifdef KAIO_FIXED
  const wgmma_register_operand<f16> a(x, x, x, x);
  {
    wgmma_batch mma(t);
#else
  {
    wgmma_batch mma(t);
    const wgmma_register_operand<f16> a(x, x, x, x);
#endif
    mma.multiply_add(acc, a, wgmma_operand<major::k>(b), false);
  }
  wgmma_wait<0>(t);
  y[t.thread_rank()] = acc[0];
});
static_assert(k.ptx().size() > 0);
