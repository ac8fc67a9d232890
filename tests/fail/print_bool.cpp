// A condition is printed as a number.
// EXPECT: kaio: a bool is not printed; write cast<u32>(condition) and %u
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  device_print(t, "%u\n", cast<u32>(i < n));
#else
  device_print(t, "%d\n", i < n);
#endif
});
static_assert(k.ptx().size() > 0);
