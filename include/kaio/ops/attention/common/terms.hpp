#pragma once
// The numbers of the prebuilt score and mask, which are chosen when the operation is called, so that one
// kernel serves every combination.

#include <kaio/dsl/number/scalar.hpp>

#include <limits>

namespace kaio::ops {

// Of general_score: a soft cap, and ALiBi.
struct attention_terms {
  u64 alibi;                    // the address of f32 slopes; 0: there are none
  i64 alibi_batch, alibi_head;  // from slope to slope
  f32 softcap;                  // 0: there is none
  u32 plain;  // 1: neither, no bias, nothing to keep, and scale is above 0, so that it is left to the exponent
};

// Of biased_score: a tensor with an element for each score. Strides count bytes; they are 0 along extents of 1.
struct attention_score_tensor {
  u64 address;  // 0: there is none
  u64 batch, head, query;
  u32 key;
  u32 is_f32;  // a bias: 1: of f32, 0: of the elements of Q; next to any_element: element_type of it
};

// Of band_mask, low <= key - own <= high: causal masks and sliding windows, of which the most negative and
// the most positive numbers are open ends. The own key is query + keys - queries; top_left: query.
struct attention_band {
  i32 low = std::numeric_limits<i32>::min(), high = std::numeric_limits<i32>::max();
  u32 top_left = 0;
};

}  // namespace kaio::ops
