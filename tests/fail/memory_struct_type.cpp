// A struct is stored to one of its type.
// EXPECT: kaio: the struct stored has another type than its place
// LATE(g++): g++ instantiates the body while it evaluates the kernel, and names no line of it
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

struct point {
  f32 x, y;
};
struct complex {
  f32 re, im;
};

inline constexpr auto k = kernel<"k", 128>([](thread t, in<point> x, out<complex> y) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  y[i] = make_struct<complex>(x[i][&point::x], x[i][&point::y]);
#else
  y[i] = x[i];
#endif
});
static_assert(k.ptx().size() > 0);
