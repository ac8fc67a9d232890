// A table in a kernel is a constant.
// EXPECT(g++): weights
// EXPECT(clang): operator()
// LATE: the compilers say first, or alone, that the lambda is not constexpr, with its line
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  constant weights(t, {1.0f, 2.0f});
  y[i] = x[i] * weights[1];
#else
  static const float weights[] = {1.0f, 2.0f};  // HERE
  y[i] = x[i] * weights[1];
#endif
});
static_assert(k.ptx().size() > 0);
