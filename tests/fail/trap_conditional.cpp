// ?: would have to be decided while the kernel is compiled.
// EXPECT: kaio: a device value in a host condition
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  val v = x[i];
  y[i] = select(v < 0.0f, v * 0.0f, 1.0f);
#else
  val v = x[i];
  y[i] = v < 0.0f ? 0.0f : 1.0f;
#endif
});
static_assert(k.ptx().size() > 0);
