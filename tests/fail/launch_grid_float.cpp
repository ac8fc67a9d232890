// A grid is counted in whole blocks.
// EXPECT: kaio: a grid is counted in whole blocks; write grid(blocks) with an integer
#include <kaio/kaio.hpp>
using namespace kaio;

inline constexpr auto fill = kernel<"fill", 128>([](thread t, out<f32> y) { y[t.global_id()] = 1.0f; });

void run(device& gpu, buffer<f32>& y) {
#ifdef KAIO_FIXED
  fill.launch(gpu.stream(), grid(2), y);
#else
  fill.launch(gpu.stream(), grid(1.5), y);
#endif
}
