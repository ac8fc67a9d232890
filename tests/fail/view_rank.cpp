// An attention has batches.
// EXPECT: kaio: a tensor_view has another number of dimensions than the operation takes; the comment of the operation lists
#include <kaio/ops/attention.hpp>
using namespace kaio;

void call(const stream& s, buffer<f16>& x, tensor_view<f16, 4> k, tensor_view<f16, 4> o) {
#ifdef KAIO_FIXED
  attention(s, tensor_view(x, 1, 1000, 8, 128), k, k, o);
#else
  attention(s, tensor_view(x, 1000, 8, 128), k, k, o);
#endif
}
