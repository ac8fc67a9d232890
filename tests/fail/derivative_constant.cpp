// A value computed from a constant is a constant: nothing of it is left that could be differentiated.
// EXPECT: kaio: derivative by a value that is a constant of this kernel
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  val s = x[i];
#else
  val s = t.let(2.0f);
#endif
  y[i] = derivative(s * s, s);  // HERE
});
static_assert(k.ptx().size() > 0);
