// Parts of a tile begin where the swizzle does.
// EXPECT: kaio: the rows of an operand of wgmma begin at a multiple of 8 inside the tile
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, out<f32> y) {
  shared_tile<f16, 128, 64, swizzled<128>> a(t);
  shared_tile<f16, 32, 64, swizzled<128>> b(t);
  wgmma_accumulator<f32, 32> acc(t);
  {
    wgmma_batch mma(t);
    const auto rows = wgmma_operand<major::k>(a);
    const auto columns = wgmma_operand<major::k>(b);
#ifdef KAIO_FIXED
    mma.multiply_add(acc, rows.rows(64), columns, false);
#else
    mma.multiply_add(acc, rows.rows(60), columns, false);
#endif
  }
  wgmma_wait<0>(t);
  y[t.thread_rank()] = acc[0];
});
static_assert(k.ptx().size() > 0);
