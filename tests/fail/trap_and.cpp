// && would have to be decided while the kernel is compiled.
// EXPECT: kaio: && and || on device values; write & and |
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  if (auto g = t.when(all_of(i<n, i> 3))) y[i] = x[i];
#else
  if (auto g = t.when(i < n && i > 3)) y[i] = x[i];
#endif
});
static_assert(k.ptx().size() > 0);
