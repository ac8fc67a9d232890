// A pair is made of f32, f16 or bf16.
// EXPECT: kaio: pack<e4m3> and pack<e5m2> take two f32, f16 or bf16
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f64> x, out<u16> y) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  y[i] = pack<e4m3>(cast<f32>(x[i]), cast<f32>(x[i + 1]));
#else
  y[i] = pack<e4m3>(x[i], x[i + 1]);
#endif
});
static_assert(k.ptx().size() > 0);
