// A device comparison has no value while the kernel is compiled.
// EXPECT: kaio: a device value in a host condition; write if (auto g = t.when(condition))
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  if (auto g = t.when(i < n)) y[i] = x[i];
#else
  if (i < n) y[i] = x[i];
#endif
});
static_assert(k.ptx().size() > 0);
