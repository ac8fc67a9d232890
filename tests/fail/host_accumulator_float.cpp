// A float of the host does not collect loads.
// EXPECT: kaio: a variable of the host cannot collect device values; declare a var: var s(t, 0.0f), then s += x
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, in<u32> w, inout<f32> y, val<u32> n) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  var s(t, 0.0f);
  for (u32 q = 0; q < 4; ++q) s += cast<f32>(w[i + q]);
  y[i] = s + x[n];
#else
  float s = 0;
  for (u32 q = 0; q < 4; ++q) s += cast<f32>(w[i + q]);
  y[i] = s + x[n];
#endif
});
static_assert(k.ptx().size() > 0);
