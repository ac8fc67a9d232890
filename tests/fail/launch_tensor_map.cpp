// A tensor map parameter takes a map of its own element type and rank.
// EXPECT: kaio: a tensor map parameter takes an encoded_tensor_map of its element type and rank
#include <kaio/kaio.hpp>
using namespace kaio;

inline constexpr auto touch = kernel<"touch", 32>([](thread, tensor_map<f32, 2> x) { prefetch(x); });

void run(device& gpu, const buffer<f32>& x, const buffer<u32>& words) {
  const tensor_tiling<2> tiling{.extents = {64, 64}, .box = {32, 8}};
#ifdef KAIO_FIXED
  touch.launch(gpu.stream(), grid(1), tiled_tensor_map(gpu, x, tiling));
#else
  touch.launch(gpu.stream(), grid(1), tiled_tensor_map(gpu, words, tiling));
#endif
}
