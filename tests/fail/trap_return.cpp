// A return in a guarded body would drop the rest of the kernel.
// EXPECT: kaio: a body of when() or otherwise() was left by return
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  if (auto g = t.when(i < n)) y[i] = x[i];
#else
  if (auto g = t.when(i >= n)) return;
  y[i] = x[i];
#endif
});
static_assert(k.ptx().size() > 0);
