// A kernel has at most 8192 instructions, wherever in a statement they are reached, and however many follow.
// EXPECT(g++): kaio: the kernel is too large (8192 instructions); split it into several kernels
// EXPECT(clang): kaio: a kernel runs in the compiler, on what is constant; a large one needs -fconstexpr-steps=16777216
// LATE(clang): its steps run out in a call below the line
#include <kaio/dsl/dsl.hpp>
using namespace kaio;
#ifdef KAIO_FIXED
constexpr u32 steps = 10;
#else
constexpr u32 steps = 1800;
#endif
inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, out<f32> y) {
  const val i = t.global_id();
  const val a = x[i];
  var sum(t, a);
  for (u32 n = 0; n < steps; ++n)
    sum = max(min(max(min(sum * a, a + sum), sum - a), (sum + 1.0f) / (a + 2.0f)), abs(sum) * sum);  // HERE
  y[i] = sum;
});
static_assert(k.ptx().size() > 0);
