// Roundings are stated for f32 and f64.
// EXPECT: kaio: a rounding is stated for f32 and f64; write cast<f32>(x)
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f16> x, out<f32> y) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  y[i] = add(cast<f32>(x[i]), 1.0f, round_up);
#else
  y[i] = add(x[i], 1.0f, round_up);
#endif
});
static_assert(k.ptx().size() > 0);
