#pragma once
// The ring of context_attention.

#include <string_view>

#include "ops/distributed/attention/call.hpp"
#include "ops/distributed/attention/memory.hpp"
#include "ops/distributed/attention/packed.hpp"

namespace kaio::ops::detail {

struct ring_forward_memory {
  attention_view k, v;              // copies without gaps, if q, k and v are not those of the heads' exchange
  attention_view k_of[2], v_of[2];  // of another group
  attention_view part, part_lse, sum, lse;  // of a step; f32 sums
  packed_numbers numbers;
};
// dense: k and v have no gaps.
ring_forward_memory ring_forward_tensors(const context_call& call, tensor_memory& memory, bool dense);

// q, k, v, out: (B, rows of the group, heads of the rank, size). lse: (B, heads, rows).
void ring_forward(const context_call& call, std::string_view operation, const stream& s,
                  const attention_view& q, const attention_view& k, const attention_view& v,
                  const attention_view& out, const attention_view& lse, const attention_view& sinks,
                  const context_attention_options& options, const ring_forward_memory& memory);

}  // namespace kaio::ops::detail
