// An array in a struct has its own end.
// EXPECT: kaio: the index of an array in a struct is beyond its end
#include <kaio/dsl/dsl.hpp>
using namespace kaio;
struct body {
  f32 mass;
  f32 history[4];
};

inline constexpr auto k = kernel<"k", 128>([](thread t, val<body> p, out<f32> y) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  y[i] = p[&body::history][3];
#else
  y[i] = p[&body::history][4];
#endif
});
static_assert(k.ptx().size() > 0);
