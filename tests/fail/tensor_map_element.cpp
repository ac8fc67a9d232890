// Tensor copies know integers and floating-point numbers, no structs.
// EXPECT: kaio: the elements of a tensor map are 8- to 64-bit integers, f16, bf16, f32, f64 or 8-bit floats
#include <kaio/kaio.hpp>
using namespace kaio;

struct particle {
  f32 x, y, z, mass;
};

void run(device& gpu, const buffer<particle>& particles, const buffer<f32>& numbers) {
#ifdef KAIO_FIXED
  tiled_tensor_map<1>(gpu, numbers, {.extents = {64}, .box = {16}});
#else
  tiled_tensor_map<1>(gpu, particles, {.extents = {64}, .box = {16}});
#endif
}
