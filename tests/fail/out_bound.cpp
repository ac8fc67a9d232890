// An out parameter is not bound to a val.
// EXPECT: kaio: an out parameter cannot be read; make it inout<T>
// LATE(clang): each template between the check and the kernel is three lines
// LATE(g++): g++ instantiates the body while it evaluates the kernel, and names no line of it
// LATE(clang): each template between the check and the kernel is three lines
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, out<f32> y) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  y[i] = x[i] + x[i];
#else
  val old = y[i];
  y[i] = x[i] + old;
#endif
});
static_assert(k.ptx().size() > 0);
