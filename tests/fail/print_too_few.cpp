// Every conversion has its argument.
// EXPECT: kaio: the format of device_print has more conversions than arguments
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  device_print(t, "%u %f\n", i, x[i]);
#else
  device_print(t, "%u %f\n", i);
#endif
});
static_assert(k.ptx().size() > 0);
