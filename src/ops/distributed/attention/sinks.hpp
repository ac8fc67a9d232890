#pragma once
// The gradient of sinks over ranks: each rank adds over the rows of its group, for its heads, and all ranks add the sums of
// all groups in the order of the ranks.

#include <string_view>

#include "ops/distributed/attention/call.hpp"
#include "ops/distributed/attention/memory.hpp"

namespace kaio::ops::detail {

struct sinks_memory {
  attention_view of_rank;  // (heads of a rank), f32
  attention_view of_all;   // (groups, heads of q), f32: rank by rank
  attention_view sum;      // (heads of q), f32
  workspace_view workspace{};
};
// Empty if the options have no dsinks.
sinks_memory sinks_tensors(const context_call& call, const stream& s, tensor_memory& memory,
                           const context_attention_options& options);

// Tensors of the group with the heads of the rank.
struct sinks_inputs {
  attention_view dout, q, k, v, out, lse;
};
// Writes options.dsinks. All ranks call it.
void sinks_gradient(const context_call& call, std::string_view operation, const stream& s,
                    const sinks_inputs& given, const context_attention_options& options,
                    const sinks_memory& memory);

}  // namespace kaio::ops::detail
