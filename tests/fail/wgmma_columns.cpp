// N has certain values.
// EXPECT: kaio: the columns of a wgmma are a multiple of 8, from 8 to 256
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, out<f32> y) {
#ifdef KAIO_FIXED
  wgmma_accumulator<f32, 96> acc(t);
#else
  wgmma_accumulator<f32, 100> acc(t);
#endif
  acc.clear();
  y[t.thread_rank()] = acc[0];
});
static_assert(k.ptx().size() > 0);
