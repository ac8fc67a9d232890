// Numbers of 8 bits are stored, not computed with.
// EXPECT: kaio: e4m3 and e5m2 hold numbers, they do not compute
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<e4m3> x, out<e4m3> y) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  y[i] = cast<e4m3>(cast<f32>(x[i]) * cast<f32>(x[i + 1]));
#else
  y[i] = x[i] * x[i + 1];
#endif
});
static_assert(k.ptx().size() > 0);
