// Integers have fewer values of N.
// EXPECT: kaio: the columns of a wgmma of integers are 8, 16, 24, 32, or a multiple of 16 up to 256
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, out<f32> y) {
#ifdef KAIO_FIXED
  wgmma_accumulator<i32, 48> acc(t);
#else
  wgmma_accumulator<i32, 40> acc(t);
#endif
  acc.clear();
  y[t.thread_rank()] = cast<f32>(acc[0]);
});
static_assert(k.ptx().size() > 0);
