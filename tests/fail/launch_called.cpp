// A kernel is launched, and not called.
// EXPECT: kaio: a kernel is not called but launched: k.launch(gpu.stream(), over(n), ...)
#include <kaio/kaio.hpp>
using namespace kaio;

inline constexpr auto fill = kernel<"fill", 128>([](thread t, out<f32> y) { y[t.global_id()] = 1.0f; });

void run(device& gpu, buffer<f32>& y) {
#ifdef KAIO_FIXED
  fill.launch(gpu.stream(), over(y.size()), y);
#else
  fill(gpu.stream(), over(y.size()), y);
#endif
}
