// A sparse product reads two slices of B that are side by side.
// EXPECT: kaio: the two slices of B of a sparse wgmma are side by side, the first at an even place
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, out<f32> y) {
  shared_tile<f16, 64, 16, swizzled<32>> a(t);
  shared_tile<f16, 32, 64, swizzled<128>> b(t);
  val metadata = t.thread_rank();
  wgmma_accumulator<f32, 32> acc(t);
  {
    wgmma_batch mma(t);
    const auto columns = wgmma_operand<major::k>(b);
#ifdef KAIO_FIXED
    mma.multiply_add_sparse<0>(acc, wgmma_operand<major::k>(a), columns.slice(2, 2), metadata, false);
#else
    mma.multiply_add_sparse<0>(acc, wgmma_operand<major::k>(a), columns.slice(1, 2), metadata, false);
#endif
  }
  wgmma_wait<0>(t);
  y[t.thread_rank()] = acc[0];
});
static_assert(k.ptx().size() > 0);
