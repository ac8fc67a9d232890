// A launch names its shape.
// EXPECT: kaio: launch takes the stream, then over(n) or grid(x, y, z), then the arguments
#include <kaio/kaio.hpp>
using namespace kaio;

inline constexpr auto fill = kernel<"fill", 128>([](thread t, out<f32> y) { y[t.global_id()] = 1.0f; });

void run(device& gpu, buffer<f32>& y) {
#ifdef KAIO_FIXED
  fill.launch(gpu.stream(), over(y.size()), y);
#else
  fill.launch(gpu.stream(), y.size(), y);
#endif
}
