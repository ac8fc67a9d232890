// A scan starts from a value of its own type.
// EXPECT: kaio: the initial value of a scan has another type than its values; write cast<T>(x)
// LATE(g++): g++ instantiates the body while it evaluates the kernel, and names no line of it
// LATE(clang): each template between the check and the kernel is three lines
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, out<f32> y, val<u32> n) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  y[i] = warp_exclusive_scan(t, x[i], plus{}, cast<f32>(n));
#else
  y[i] = warp_exclusive_scan(t, x[i], plus{}, n);
#endif
});
static_assert(k.ptx().size() > 0);
