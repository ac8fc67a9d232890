// context_attention: its memory, the exchange of heads, and the ring.

#include <kaio/ops/context_attention.hpp>
#include <kaio/runtime/error.hpp>

#include "ops/distributed/attention/call.hpp"
#include "ops/distributed/attention/heads.hpp"
#include "ops/distributed/attention/memory.hpp"
#include "ops/distributed/attention/ring_forward.hpp"
#include "ops/distributed/common/views.hpp"

namespace kaio::ops {

namespace {

using namespace detail;

struct forward_memory {
  exchanged_tensor q, k, v, out;
  heads_exchange::lse_staging lse;
  attention_view group_lse;
  ring_forward_memory ring;
};

forward_memory divide(const context_call& call, const context_arguments& given, tensor_memory& memory) {
  forward_memory m;
  m.q.of_rank = given.q;
  m.k.of_rank = given.k;
  m.v.of_rank = given.v;
  m.out.of_rank = given.out;
  const bool exchanges = call.head_ranks > 1;
  if (exchanges) {
    heads_exchange::divide(call, memory, m.q, call.q_heads, call.qk_size);
    heads_exchange::divide(call, memory, m.k, call.k_heads, call.qk_size);
    heads_exchange::divide(call, memory, m.v, call.k_heads, call.v_size);
    heads_exchange::divide(call, memory, m.out, call.q_heads, call.v_size);
    m.lse = heads_exchange::staging_of_lse(call, memory);
    m.group_lse =
        memory.take(element_kind::f32, {call.batches, call.q_heads / call.head_ranks, call.group_rows()});
  }
  m.ring = ring_forward_tensors(call, memory, exchanges || (is_dense(given.k) && is_dense(given.v)));
  return m;
}

}  // namespace

std::uint64_t context_attention_workspace_bytes(const communicator& c, const stream& s,
                                                const attention_view& q, const attention_view& k,
                                                const attention_view& v,
                                                const context_attention_options& options) {
  context_arguments given{
      .operation = "context_attention_workspace_bytes", .q = q, .k = k, .v = v, .options = &options};
  given.has_tensors = false;
  const context_call call = resolve_context(c, s, given);
  tensor_memory memory;
  divide(call, given, memory);
  return memory.used();
}

void context_attention(const communicator& c, const stream& s, const attention_view& q,
                       const attention_view& k, const attention_view& v, const attention_view& out,
                       const context_attention_options& options) {
  constexpr std::string_view operation = "context_attention";
  const operation_scope traced(operation);
  const context_arguments given{
      .operation = operation, .q = q, .k = k, .v = v, .out = out, .options = &options};
  const context_call call = resolve_context(c, s, given);
  tensor_memory memory(options.workspace);
  forward_memory m = divide(call, given, memory);
  check_workspace(call, operation, options.workspace, memory.used());
  m.ring.numbers.upload(call.rank.on, s);
  if (call.head_ranks == 1)
    return ring_forward(call, operation, s, q, k, v, out, options.lse.view, options.sinks.view, options,
                        m.ring);
  const heads_exchange heads(call, operation, s, m.ring.numbers);
  heads.to_group({m.q, m.k, m.v});
  attention_view sinks = options.sinks.view;
  const std::int64_t own = call.q_heads / call.head_ranks;
  if (sinks.exists()) sinks = part_of(sinks, 0, own * call.place, own);
  ring_forward(call, operation, s, m.q.of_group, m.k.of_group, m.v.of_group, m.out.of_group, m.group_lse,
               sinks, options, m.ring);
  heads.to_rank({m.out});
  if (options.lse.view.exists()) heads.lse_to_rank(options.lse.view, m.group_lse, m.lse);
}

}  // namespace kaio::ops
