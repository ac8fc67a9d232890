// The CUDA way to leave: return in a guard.
// EXPECT: kaio: a body of when() or otherwise() was left by return
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  if (auto inside = t.when(i < n)) y[i] = x[i] * 2.0f;
#else
  if (auto outside = t.when(i >= n)) return;  // HERE
  val a = x[i] * 2.0f;
  y[i] = a;
#endif
});
static_assert(k.ptx().size() > 0);
