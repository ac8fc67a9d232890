// sincos computes where it is called: its argument must know the kernel.
// EXPECT: kaio: sincos of a value that knows no kernel
#include <kaio/kaio.hpp>
using namespace kaio;
inline constexpr auto waves = kernel<"waves", 256>([](thread t, out<f32> y) {
#ifdef KAIO_FIXED
  val angle = cast<f32>(t.global_id());
  y[t.global_id()] = sincos(angle).sin;
#else
  y[t.global_id()] = sincos(cast<f32>(thread_idx_x())).sin;
#endif
});
static_assert(waves.ptx().contains("st.global"));
