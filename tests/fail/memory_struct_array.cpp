// An array in a parameter has no run-time index.
// EXPECT: kaio: an array in a parameter is indexed by numbers of the host
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
  y[i] = p[&body::history][i];
#endif
});
static_assert(k.ptx().size() > 0);
