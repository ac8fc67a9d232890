// An operation takes views, not addresses.
// EXPECT: kaio: a buffer, a pointer or a number, but an operation takes a tensor_view; make one: tensor_view q(buffer, rows, columns);
#include <kaio/ops/matmul.hpp>
using namespace kaio;

void call(const stream& s, [[maybe_unused]] const f32* a, buffer<f32>& memory, tensor_view<f32, 2> b,
          tensor_view<f32, 2> c) {
#ifdef KAIO_FIXED
  matmul(s, tensor_view(memory, 64, 64), b, c, {.alpha = 2});
#else
  matmul(s, a, b, c, {.alpha = 2});
#endif
}
