// A struct as a parameter has 4096 bytes at most.
// EXPECT: kaio: a struct as a parameter has at most 4096 bytes; pass a buffer
// LATE(clang): each template between the check and the kernel is three lines
#include <kaio/dsl/dsl.hpp>
using namespace kaio;
#ifdef KAIO_FIXED
struct large {
  f32 data[64];
};
#else
struct large {
  f32 data[1025];
};
#endif
inline constexpr auto k = kernel<"k", 128>(  // HERE
    [](thread t, val<large> p, out<f32> y) { y[t.global_id()] = p[&large::data][1]; });
static_assert(k.ptx().size() > 0);
