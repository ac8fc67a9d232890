// The sign of an argument is that of its conversion.
// EXPECT: kaio: the argument of this conversion is an unsigned integer of up to 32 bits; write %u, %x or %o
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  device_print(t, "%u\n", i);
#else
  device_print(t, "%d\n", i);
#endif
});
static_assert(k.ptx().size() > 0);
