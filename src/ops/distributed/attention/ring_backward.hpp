#pragma once
// The ring of context_attention_backward. Keys and values arrive as in the forward ring. The gradients of keys and values
// of another group, in f32, go back to it in the step in which they were computed, while the next step runs.

#include <cstdint>
#include <string_view>

#include "ops/distributed/attention/call.hpp"
#include "ops/distributed/attention/memory.hpp"
#include "ops/distributed/attention/packed.hpp"

namespace kaio::ops::detail {

struct ring_backward_memory {
  attention_view k, v;                               // copies without gaps, if k and v have gaps
  attention_view k_of[2], v_of[2];                   // of another group
  attention_view dk_of[2], dv_of[2];                 // f32: for another group
  attention_view dk_from[2], dv_from[2];             // f32: from another group
  attention_view dq, dk, dv;                         // f32 sums
  attention_view dq_part, dk_part, dv_part;          // of an item
  std::uint64_t workspace = 0, workspace_bytes = 0;  // of attention_backward
  packed_numbers numbers;
};
ring_backward_memory ring_backward_tensors(const context_call& call, const stream& s, tensor_memory& memory,
                                           bool dense);

struct ring_gradients {
  attention_view dout, q, k, v, out, lse, dq, dk, dv;
};
// Tensors of the group: (B, rows of the group, heads of the rank, size).
void ring_backward(const context_call& call, std::string_view operation, const stream& s,
                   const ring_gradients& given, const context_attention_options& options,
                   const ring_backward_memory& memory);

}  // namespace kaio::ops::detail
