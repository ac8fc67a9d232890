// static_cast is for values of the host.
// EXPECT: kaio: a device value has no value while the kernel is compiled
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  y[i] = x[i] * cast<f32>(i);
#else
  y[i] = x[i] * static_cast<f32>(i);
#endif
});
static_assert(k.ptx().size() > 0);
