// A causal mask has an alignment.
// EXPECT: kaio: causal is an alignment; write causal_alignment::bottom_right (FlashAttention's) or causal_alignment::top_left (torch's is_causal)
#include <kaio/ops/attention.hpp>
using namespace kaio;

attention_options options() {
#ifdef KAIO_FIXED
  return {.causal = causal_alignment::top_left};
#else
  return {.causal = true};
#endif
}
