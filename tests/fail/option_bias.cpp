// The bias of a product says whether it is one for a row or for a column.
// EXPECT: kaio: a buffer, a pointer or a number, but an operation takes a tensor_view; make one: tensor_view q(buffer, rows, columns);
#include <kaio/ops/matmul.hpp>
using namespace kaio;

matmul_options options(buffer<f32>& bias) {
#ifdef KAIO_FIXED
  return {.bias = per_column(tensor_view(bias, 64))};
#else
  return {.bias = per_column(bias)};
#endif
}
