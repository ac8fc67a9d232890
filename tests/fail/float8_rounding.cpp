// The instructions round to the nearest alone.
// EXPECT: kaio: e4m3 and e5m2 are rounded to the nearest alone
// LATE(g++): g++ instantiates the body while it evaluates the kernel, and names no line of it
// LATE(clang): each template between the check and the kernel is three lines
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, out<e4m3> y) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  y[i] = cast<e4m3>(x[i]);
#else
  y[i] = cast<e4m3>(x[i], round_down);
#endif
});
static_assert(k.ptx().size() > 0);
