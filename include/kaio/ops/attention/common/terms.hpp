#pragma once
// The numbers of the prebuilt score and mask. They are arguments of the launch, so that one kernel serves
// every combination.

#include <kaio/dsl/number/scalar.hpp>

#include <limits>

namespace kaio::ops {

// The terms of general_score: a soft cap and ALiBi.
struct attention_terms {
  u64 alibi;                    // address of the f32 slopes; 0: no ALiBi
  i64 alibi_batch, alibi_head;  // strides of the slopes
  f32 softcap;                  // 0: no soft cap
  u32 plain;  // 1: no soft cap, ALiBi, bias or keep, and scale > 0, so that the exponent takes the scale
};

// A bias or mask tensor of biased_score, with an element for each score. Strides count bytes; they are 0
// along extents of 1.
struct attention_score_tensor {
  u64 address;  // 0: no tensor
  u64 batch, head, query;
  u32 key;
  u32 is_f32;  // for a bias: 1: f32, 0: the elements of Q; for any_element: its element_type
};

// A causal mask or sliding window of band_mask: low <= key - own <= high. The most negative and most positive
// numbers are open ends. The own key is query + keys - queries, or query if top_left.
struct attention_band {
  i32 low = std::numeric_limits<i32>::min(), high = std::numeric_limits<i32>::max();
  u32 top_left = 0;
};

}  // namespace kaio::ops
