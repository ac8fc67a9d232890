// The operator of a reduction takes two values.
// EXPECT: kaio: the operator of a reduction or a scan takes two values and returns one
// LATE(g++): g++ instantiates the body while it evaluates the kernel, and names no line of it
// LATE(clang): what follows the failed requirement is evaluated too
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  y[i] = block_reduce(t, x[i], [](auto a, auto b) { return a + b; });
#else
  y[i] = block_reduce(t, x[i], [](auto a) { return a; });
#endif
});
static_assert(k.ptx().size() > 0);
