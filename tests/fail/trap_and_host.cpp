// && of a device value and a host's condition.
// EXPECT: kaio: && and || on device values; write & and |
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, in<u32> w, inout<f32> y, val<u32> n) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  constexpr bool checked = true;
  if (auto g = t.when((i < n) & checked)) y[i] = x[i] + cast<f32>(w[i]);
#else
  constexpr bool checked = true;
  if (auto g = t.when(checked && i < n)) y[i] = x[i] + cast<f32>(w[i]);
#endif
});
static_assert(k.ptx().size() > 0);
