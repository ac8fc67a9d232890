// The pages of a cache have extents.
// EXPECT: kaio: a buffer, a pointer or a number, but an operation takes a tensor_view; make one: tensor_view q(buffer, rows, columns);
#include <kaio/ops/attention_decode.hpp>
using namespace kaio;

kv_cache<f16> pages(buffer<f16>& k, tensor_view<f16, 4> v) {
#ifdef KAIO_FIXED
  return {.k = tensor_view(k, 64, 16, 8, 128), .v = v};
#else
  return {.k = k, .v = v};
#endif
}
