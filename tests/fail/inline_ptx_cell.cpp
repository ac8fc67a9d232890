// A ptx_global is a cell of memory.
// EXPECT: kaio: this is no cell of memory; name one by indexing: x[i]
// LATE(g++): g++ instantiates the body while it evaluates the kernel, and names no line of it
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto read = ptx_op<"ld.global.u32", u32(ptx_global), ptx_effect::memory>;
inline constexpr auto k = kernel<"k", 128>([](thread t, inout<u32> y) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  val x = read(t, y[i]);
  y[i + 1] = x;
#else
  val x = read(t, i);
  y[i + 1] = x;
#endif
});
static_assert(k.ptx().size() > 0);
