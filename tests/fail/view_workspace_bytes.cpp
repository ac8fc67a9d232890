// The size of a workspace is that of views.
// EXPECT: kaio: a buffer, a pointer or a number, but an operation takes a tensor_view; make one: tensor_view q(buffer, rows, columns);
#include <kaio/ops/matmul.hpp>
using namespace kaio;

std::uint64_t bytes(const stream& s, buffer<f32>& x, tensor_view<f32, 2> b, tensor_view<f32, 2> c) {
#ifdef KAIO_FIXED
  return ops::matmul_workspace_bytes(s, tensor_view(x, 64, 64), b, c);
#else
  return ops::matmul_workspace_bytes(s, x, b, c);
#endif
}
