// An out parameter is no operand, and no argument of a function.
// EXPECT: kaio: an out parameter cannot be read; make it inout<T>
// LATE(clang): each template between the check and the kernel is three lines
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, out<f32> y) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  y[i] = exp(x[i]);
#else
  y[i] = exp(y[i]);
#endif
});
static_assert(k.ptx().size() > 0);
