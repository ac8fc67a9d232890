// A bias of an attention is of numbers that are added to scores.
// EXPECT: kaio: the elements of a bias are f32, or those of q, f16 or bf16; a mask of bool is `keep`
#include <kaio/ops/attention.hpp>
using namespace kaio;

attention_options options(tensor_view<const u8, 2> mask) {
#ifdef KAIO_FIXED
  return {.keep = mask};
#else
  return {.bias = mask};
#endif
}
