// A function of the host takes numbers, not device values.
// EXPECT: kaio: a device value has no value while the kernel is compiled
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  y[i] = exp(x[i]);
#else
  y[i] = __builtin_expf(x[i]);
#endif
});
static_assert(k.ptx().size() > 0);
