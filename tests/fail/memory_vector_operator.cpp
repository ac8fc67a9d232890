// Operators are for numbers.
// EXPECT: kaio: an operator on vectors; write map
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32x2> x, inout<f32x2> y) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  val v = x[i];
  y[i] = map([](auto a, auto b) { return a * b; }, v, v);
#else
  val v = x[i];
  y[i] = v * v;
#endif
});
static_assert(k.ptx().size() > 0);
