// A float is not printed as an integer.
// EXPECT: kaio: the argument of this conversion is a float; write %f, %e, %g or %a
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  device_print(t, "%f\n", x[i]);
#else
  device_print(t, "%d\n", x[i]);
#endif
});
static_assert(k.ptx().size() > 0);
