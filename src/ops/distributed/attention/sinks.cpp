#include "ops/distributed/attention/sinks.hpp"

#include <kaio/ops/attention_backward.hpp>
#include <kaio/ops/copy.hpp>

#include <vector>

#include "ops/distributed/common/views.hpp"
#include "ops/distributed/simt/sum_parts.hpp"

namespace kaio::ops::detail {

namespace {

constexpr std::uint32_t rows = 1;

// A tensor of this shape without gaps, and without memory.
attention_view shaped(const context_call& call, std::int64_t count, std::int64_t heads, std::int64_t size) {
  attention_view v;
  v.type = call.type;
  v.rank = 4;
  v.extents = {call.batches, count, heads, size};
  v.strides = {count * heads * size, heads * size, size, 1};
  return v;
}

}  // namespace

sinks_memory sinks_tensors(const context_call& call, const stream& s, tensor_memory& memory,
                           const context_attention_options& options) {
  sinks_memory m;
  if (!options.dsinks.view.exists()) return m;
  const std::int64_t heads = call.q_heads / call.head_ranks, k_heads = call.k_heads / call.head_ranks;
  m.of_rank = memory.take(element_kind::f32, {heads});
  m.of_all = memory.take(element_kind::f32, {call.ring_ranks, call.q_heads});
  m.sum = memory.take(element_kind::f32, {call.q_heads});
  m.workspace.bytes = attention_backward_workspace_bytes(
      s, shaped(call, call.group_rows(), heads, call.qk_size), shaped(call, 0, k_heads, call.qk_size),
      shaped(call, 0, k_heads, call.v_size));
  m.workspace.address = memory.take_bytes(m.workspace.bytes);
  m.workspace.device = s.device_identity();
  return m;
}

void sinks_gradient(const context_call& call, std::string_view operation, const stream& s,
                    const sinks_inputs& given, const context_attention_options& options,
                    const sinks_memory& memory) {
  if (!options.dsinks.view.exists()) return;
  const std::int64_t heads = call.q_heads / call.head_ranks;
  // Without keys, attention_backward computes the gradient of the sinks alone.
  attention_backward_options o;
  o.forward.scale = options.scale;
  o.forward.softcap = options.softcap;
  o.forward.sinks.view = part_of(options.sinks.view, 0, heads * call.place, heads);
  o.dsinks.view = memory.of_rank;
  o.workspace = memory.workspace;
  attention_row_input lse;
  lse.view = given.lse;
  attention_backward(s, given.dout, given.q, part_of(given.k, rows, 0, 0), part_of(given.v, rows, 0, 0),
                     given.out, lse, {}, {}, {}, o);
  std::vector<transfer> sends, receives;
  const any_view by_rank = [&] {
    any_view v = memory.of_all;
    v.extents = {call.ranks, heads};
    v.strides = {heads, 1};
    return v;
  }();
  for (int r = 0; r < call.ranks; ++r) {
    any_view from = part_of(by_rank, 0, r, 1);
    from.rank = 1;
    from.extents = {heads};
    from.strides = {1};
    sends.push_back({memory.of_rank, r});
    receives.push_back({from, r});
  }
  exchange_in(call, operation, s, sends, receives);
  const auto row = static_cast<std::uint64_t>(call.q_heads) * sizeof(f32);
  launch_sum(s, {memory.sum.address, element_kind::f32, row}, {memory.of_all.address, element_kind::f32, row},
             row, static_cast<u32>(call.ring_ranks), 1, static_cast<std::uint64_t>(call.q_heads), false);
  run_copy(s, options.dsinks.view, memory.sum);
}

}  // namespace kaio::ops::detail
