// An expression that names no kernel is bound before a function takes it as a val.
// EXPECT: kaio: this value knows no kernel yet; write t.let(value), or `val name = ...` and let the type be deduced
// LATE(g++): g++ instantiates the body while it evaluates the kernel, and names no line of it
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

constexpr val<f32> at(in<f32> x, const val<u32>& i) { return x[i]; }

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y) {
#ifdef KAIO_FIXED
  y[0] = at(x, t.let(thread_idx_x()));
#else
  y[0] = at(x, thread_idx_x());
#endif
});
static_assert(k.ptx().size() > 0);
