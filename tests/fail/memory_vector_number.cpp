// A number is no vector.
// EXPECT: kaio: a number is stored to a vector; write make_vec(a, b, ...)
// LATE(g++): g++ instantiates the body while it evaluates the kernel, and names no line of it
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, out<f32x2> y) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  y[i] = make_vec(1.0f, 1.0f);
#else
  y[i] = 1.0f;
#endif
});
static_assert(k.ptx().size() > 0);
