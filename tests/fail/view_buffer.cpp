// An operation takes views, which have the extents that a buffer lacks.
// EXPECT: kaio: a buffer, a pointer or a number, but an operation takes a tensor_view; make one: tensor_view q(buffer, rows, columns);
#include <kaio/ops/attention.hpp>
using namespace kaio;

void call(const stream& s, buffer<f16>& x, tensor_view<f16, 4> o) {
#ifdef KAIO_FIXED
  tensor_view q(x, 2, 1000, 8, 128);
  attention(s, q, q, q, o, {.causal = causal_alignment::top_left});
#else
  attention(s, x, x, x, o, {.causal = causal_alignment::top_left});
#endif
}
