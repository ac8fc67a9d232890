// A pair is taken apart before it is converted.
// EXPECT: kaio: a cast of a packed pair; write low(x) and high(x), and pack(low, high)
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f16x2> x, out<f32> y) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  y[i] = cast<f32>(low(x[i]));
#else
  y[i] = cast<f32>(x[i]);
#endif
});
static_assert(k.ptx().size() > 0);
