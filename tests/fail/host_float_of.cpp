// A device value has no value on the host.
// EXPECT: kaio: a device value has no value while the kernel is compiled
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  val a = x[i];
  y[i] = a;
#else
  float a = x[i];  // HERE
  y[i] = a;
#endif
});
static_assert(k.ptx().size() > 0);
