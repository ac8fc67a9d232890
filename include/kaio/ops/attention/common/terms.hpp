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
  u32 plain;                    // 1: neither, and scale is above 0, so that it is left to the exponent
};

// Of band_mask, low <= key - own <= high: causal masks and sliding windows, of which the most negative and
// the most positive numbers are open ends. The own key is query + keys - queries; top_left: query.
struct attention_band {
  i32 low = std::numeric_limits<i32>::min(), high = std::numeric_limits<i32>::max();
  u32 top_left = 0;
};

}  // namespace kaio::ops
