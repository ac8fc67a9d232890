// A number is no weight.
// EXPECT: kaio: a buffer, a pointer or a number, but an operation takes a tensor_view; make one: tensor_view q(buffer, rows, columns);
#include <kaio/ops/rms_norm.hpp>
using namespace kaio;

void call(const stream& s, buffer<f32>& ones, tensor_view<f32, 2> x, tensor_view<f32, 2> y) {
#ifdef KAIO_FIXED
  rms_norm(s, x, tensor_view(ones, 128), y, {.epsilon = 1e-5f});
#else
  rms_norm(s, x, 1.0f, y, {.epsilon = 1e-5f});
#endif
}
