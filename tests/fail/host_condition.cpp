// when() is for device conditions.
// EXPECT: kaio: when() takes a device condition; a host condition is a plain if
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  if (sizeof(f32) == 4) y[i] = x[i];
#else
  if (auto g = t.when(sizeof(f32) == 4)) y[i] = x[i];
#endif
});
static_assert(k.ptx().size() > 0);
