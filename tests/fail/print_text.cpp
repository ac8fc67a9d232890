// Strings are part of the format.
// EXPECT: kaio: device_print has no %s; write the text into the format
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  device_print(t, "in block %u\n", i);
#else
  device_print(t, "in %s %u\n", i, i);
#endif
});
static_assert(k.ptx().size() > 0);
