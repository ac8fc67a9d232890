// A struct of many numbers stays in memory.
// EXPECT: kaio: a struct in a val or var has at most 32 numbers; leave it in memory, and take its members
// LATE(g++): g++ instantiates the body while it evaluates the kernel, and names no line of it
// LATE(clang): each template between the check and the kernel is three lines
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

struct table {
  f32 values[40];
};

inline constexpr auto k = kernel<"k", 128>([](thread t, in<table> x, out<f32> y) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  y[i] = x[i][&table::values][3];
#else
  val a = x[i];
  y[i] = a[&table::values][3];
#endif
});
static_assert(k.ptx().size() > 0);
