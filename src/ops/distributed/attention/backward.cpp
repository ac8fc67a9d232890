// context_attention_backward: its memory, the exchange of heads, and the ring.

#include <kaio/ops/context_attention.hpp>

#include "ops/distributed/attention/call.hpp"
#include "ops/distributed/attention/heads.hpp"
#include "ops/distributed/attention/memory.hpp"
#include "ops/distributed/attention/ring_backward.hpp"
#include "ops/distributed/attention/sinks.hpp"
#include "ops/distributed/common/views.hpp"

namespace kaio::ops {

namespace {

using namespace detail;

struct backward_memory {
  exchanged_tensor dout, q, k, v, out, dq, dk, dv;
  heads_exchange::lse_staging lse;
  attention_view group_lse;
  ring_backward_memory ring;
  sinks_memory sinks;
};

backward_memory divide(const context_call& call, const stream& s, const context_arguments& given,
                       tensor_memory& memory) {
  backward_memory m;
  m.dout.of_rank = given.dout;
  m.q.of_rank = given.q;
  m.k.of_rank = given.k;
  m.v.of_rank = given.v;
  m.out.of_rank = given.out;
  m.dq.of_rank = given.dq;
  m.dk.of_rank = given.dk;
  m.dv.of_rank = given.dv;
  const bool exchanges = call.head_ranks > 1;
  if (exchanges) {
    const auto divide = [&](exchanged_tensor& t, std::int64_t heads, std::int64_t size) {
      heads_exchange::divide(call, memory, t, heads, size);
    };
    for (exchanged_tensor* t : {&m.dout, &m.out}) divide(*t, call.q_heads, call.v_size);
    for (exchanged_tensor* t : {&m.q, &m.dq}) divide(*t, call.q_heads, call.qk_size);
    for (exchanged_tensor* t : {&m.k, &m.dk}) divide(*t, call.k_heads, call.qk_size);
    for (exchanged_tensor* t : {&m.v, &m.dv}) divide(*t, call.k_heads, call.v_size);
    m.lse = heads_exchange::staging_of_lse(call, memory);
    m.group_lse =
        memory.take(element_kind::f32, {call.batches, call.q_heads / call.head_ranks, call.group_rows()});
  }
  m.ring = ring_backward_tensors(call, s, memory, exchanges || (is_dense(given.k) && is_dense(given.v)));
  m.sinks = sinks_tensors(call, s, memory, *given.options);
  return m;
}

}  // namespace

std::uint64_t context_attention_backward_workspace_bytes(const communicator& c, const stream& s,
                                                         const attention_view& q, const attention_view& k,
                                                         const attention_view& v,
                                                         const context_attention_options& options) {
  context_arguments given{
      .operation = "context_attention_backward_workspace_bytes", .q = q, .k = k, .v = v, .options = &options};
  given.has_tensors = false;
  const context_call call = resolve_context(c, s, given);
  tensor_memory memory;
  divide(call, s, given, memory);
  return memory.used();
}

void context_attention_backward(const communicator& c, const stream& s, const attention_view& dout,
                                const attention_view& q, const attention_view& k, const attention_view& v,
                                const attention_view& out, const attention_row_input& lse,
                                const attention_gradient& dq, const attention_gradient& dk,
                                const attention_gradient& dv, const context_attention_options& options) {
  constexpr std::string_view operation = "context_attention_backward";
  const operation_scope traced(operation);
  const context_arguments given{.operation = operation,
                                .q = q,
                                .k = k,
                                .v = v,
                                .out = out,
                                .dout = dout,
                                .lse = lse.view,
                                .dq = dq.view,
                                .dk = dk.view,
                                .dv = dv.view,
                                .options = &options,
                                .backward = true};
  const context_call call = resolve_context(c, s, given);
  tensor_memory memory(options.workspace);
  backward_memory m = divide(call, s, given, memory);
  check_workspace(call, operation, options.workspace, memory.used());
  m.ring.numbers.upload(call.rank.on, s);
  if (call.head_ranks == 1) {
    sinks_gradient(call, operation, s, {dout, q, k, v, out, lse.view}, options, m.sinks);
    return ring_backward(call, operation, s, {dout, q, k, v, out, lse.view, dq.view, dk.view, dv.view},
                         options, m.ring);
  }
  const heads_exchange heads(call, operation, s, m.ring.numbers);
  heads.to_group({m.dout, m.q, m.k, m.v, m.out});
  heads.lse_to_group(lse.view, m.group_lse, m.lse);
  const auto wanted = [](const exchanged_tensor& t) {
    return t.of_rank.exists() ? t.of_group : attention_view();
  };
  sinks_gradient(call, operation, s,
                 {m.dout.of_group, m.q.of_group, m.k.of_group, m.v.of_group, m.out.of_group, m.group_lse},
                 options, m.sinks);
  ring_backward(call, operation, s,
                {m.dout.of_group, m.q.of_group, m.k.of_group, m.v.of_group, m.out.of_group, m.group_lse,
                 wanted(m.dq), wanted(m.dk), wanted(m.dv)},
                options, m.ring);
  std::vector<exchanged_tensor> gradients;
  for (const exchanged_tensor* t : {&m.dq, &m.dk, &m.dv})
    if (t->of_rank.exists()) gradients.push_back(*t);
  heads.to_rank(gradients);
}

}  // namespace kaio::ops
