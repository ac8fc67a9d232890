// A struct in memory is written as a whole from a struct, and else by its members.
// EXPECT: kaio: a struct is stored from one of its type: a val<S>, a var<S>, a place in memory, an S of the host; or member by member: y[i][&S::member] = value
// LATE(g++): g++ instantiates the body while it evaluates the kernel, and names no line of it
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

struct body {
  f32 mass;
  u32 id;
};

inline constexpr auto k = kernel<"k", 128>([](thread t, in<body> x, out<body> y) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  y[i] = x[i];
  y[i][&body::mass] = 1.0f;
#else
  y[i] = x[i][&body::mass];
#endif
});
static_assert(k.ptx().size() > 0);
