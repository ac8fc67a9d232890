// A kernel beyond what a compiler evaluates by default: clang's flag is named; g++ continues up to kaio's own limit.
// EXPECT(clang): kaio: a kernel runs in the compiler, on what is constant; a large one needs -fconstexpr-steps=
// EXPECT(g++): kaio:
// LATE: the limit is reached at any place of the kernel
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

#ifdef KAIO_FIXED
inline constexpr int rounds = 20;
#else
inline constexpr int rounds = 2500;
#endif
inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, out<f32> y) {
  val i = t.global_id();
  var sum = x[i];
  for (int r = 0; r < rounds; ++r) {
    sum = max(sum * 2.0f, x[i]) - 1.0f;  // HERE
    y[i] = sum;                          // HERE
  }
});
static_assert(k.ptx().size() > 0);
