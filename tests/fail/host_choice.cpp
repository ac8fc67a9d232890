// ?: of two expressions is decided by the host.
// EXPECT: kaio: a device value in a host condition
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  y[i] = select(x[i] > 0.0f, x[i] * 2.0f, y[i] * 3.0f);
#else
  y[i] = x[i] > 0.0f ? x[i] * 2.0f : y[i] * 3.0f;  // HERE
#endif
});
static_assert(k.ptx().size() > 0);
