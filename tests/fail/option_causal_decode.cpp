// A causal mask of a decode has an alignment.
// EXPECT: kaio: causal is an alignment; write causal_alignment::bottom_right (FlashAttention's) or causal_alignment::top_left (torch's is_causal)
#include <kaio/ops/attention_decode.hpp>
using namespace kaio;

attention_decode_options options(int causal) {
#ifdef KAIO_FIXED
  return {.causal = causal != 0 ? causal_alignment::bottom_right : causal_alignment::none};
#else
  return {.causal = causal};
#endif
}
