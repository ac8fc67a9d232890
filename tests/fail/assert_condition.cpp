// device_assert takes a condition.
// EXPECT: kaio: device_assert takes a condition; write x != 0
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  device_assert(t, n != 0, "n is not zero");
  y[i] = x[i];
#else
  device_assert(t, n, "n is not zero");
  y[i] = x[i];
#endif
});
static_assert(k.ptx().size() > 0);
