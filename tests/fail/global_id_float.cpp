// An index is an integer.
// EXPECT: kaio: the index of a thread is i32, u32, i64 or u64
// LATE(g++): g++ instantiates the body while it evaluates the kernel, and names no line of it
// LATE(clang): each template between the check and the kernel is three lines
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  y[t.global_id<u64>()] = x[i];
#else
  y[i] = t.global_id<f32>();
#endif
});
static_assert(k.ptx().size() > 0);
