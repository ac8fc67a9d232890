// A kernel is launched on a stream.
// EXPECT: kaio: a kernel is launched on a stream; write gpu.stream() for a device
#include <kaio/kaio.hpp>
using namespace kaio;

inline constexpr auto fill = kernel<"fill", 128>([](thread t, out<f32> y) { y[t.global_id()] = 1.0f; });

void run(device& gpu, buffer<f32>& y) {
#ifdef KAIO_FIXED
  fill.launch(gpu.stream(), over(y.size()), y);
#else
  fill.launch(gpu, over(y.size()), y);
#endif
}
