// An attention writes the log-sum-exp to a view.
// EXPECT: kaio: a buffer, a pointer or a number, but an operation takes a tensor_view; make one: tensor_view q(buffer, rows, columns);
#include <kaio/ops/attention.hpp>
using namespace kaio;

attention_options options(buffer<f32>& lse) {
#ifdef KAIO_FIXED
  return {.lse = tensor_view(lse, 2, 8, 1000)};
#else
  return {.lse = lse};
#endif
}
