#include "ops/distributed/attention/ring_backward.hpp"

#include <kaio/ops/attention_backward.hpp>
#include <kaio/ops/copy.hpp>
#include <kaio/runtime/copy.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

#include "ops/distributed/common/views.hpp"
#include "ops/distributed/simt/sum_parts.hpp"

namespace kaio::ops::detail {

namespace {

constexpr std::uint32_t row = 1, row_of_lse = 2;
enum mark : std::size_t {
  begun,
  arrived,
  computed = arrived + 2,
  returned = computed + 2,
  ended = returned + 2
};

attention_view rows_of(const attention_view& v, std::int64_t first, std::int64_t count) {
  return part_of(v, row, first, count);
}

// A tensor of at least these rows, as one of exactly these rows without gaps.
attention_view with_rows(const attention_view& tensor, std::int64_t rows) {
  attention_view t = tensor;
  t.extents[row] = rows;
  t.strides[0] = rows * t.strides[row];
  return t;
}

// Rows of (B, rows, heads, size) without gaps, as the kernel that adds takes them: a row is that of a batch.
summed_rows as_rows(const attention_view& v) {
  return {v.address, v.type, static_cast<std::uint64_t>(v.strides[0]) * v.element_bytes()};
}

// to = (accumulate ? to : 0) + from: the same rows of tensors without gaps within a batch.
void add(const stream& s, const attention_view& to, const attention_view& from, bool accumulate) {
  const auto size = static_cast<std::uint64_t>(to.extents[1] * to.extents[2] * to.extents[3]);
  launch_sum(s, as_rows(to), as_rows(from), 0, 1, static_cast<std::uint64_t>(to.extents[0]), size,
             accumulate);
}

}  // namespace

ring_backward_memory ring_backward_tensors(const context_call& call, const stream& s, tensor_memory& memory,
                                           bool dense) {
  const std::int64_t heads = call.q_heads / call.head_ranks, k_heads = call.k_heads / call.head_ranks;
  const std::int64_t rows = call.group_rows(), most = call.most_rows(), b = call.batches;
  ring_backward_memory m;
  const auto pair = [&](attention_view& k, attention_view& v, element_kind type, std::int64_t count) {
    k = memory.take(type, {b, count, k_heads, call.qk_size});
    v = memory.take(type, {b, count, k_heads, call.v_size});
  };
  if (call.ring_ranks > 1) {
    if (!dense) pair(m.k, m.v, call.type, rows);
    for (int i = 0; i < std::min(call.ring_ranks - 1, 2); ++i) {
      pair(m.k_of[i], m.v_of[i], call.type, most);
      pair(m.dk_of[i], m.dv_of[i], element_kind::f32, most);
      pair(m.dk_from[i], m.dv_from[i], element_kind::f32, rows);
    }
  }
  m.dq = memory.take(element_kind::f32, {b, rows, heads, call.qk_size});
  pair(m.dk, m.dv, element_kind::f32, rows);
  m.dq_part = memory.take(call.type, {b, rows, heads, call.qk_size});
  pair(m.dk_part, m.dv_part, call.type, most);
  m.numbers = packed_numbers(call, memory);
  attention_view q, k, v;
  q.type = k.type = v.type = call.type;
  q.rank = k.rank = v.rank = 4;
  for (int step = 0; step < call.ring_ranks; ++step) {
    const auto& items = call.steps[static_cast<std::size_t>(step)].items;
    for (std::size_t i = 0; i < items.size(); ++i) {
      q.extents = {b, items[i].queries, heads, call.qk_size};
      k.extents = {b, items[i].keys, k_heads, call.qk_size};
      v.extents = {b, items[i].keys, k_heads, call.v_size};
      for (attention_view* x : {&q, &k, &v})
        x->strides = {x->extents[1] * x->extents[2] * x->extents[3], x->extents[2] * x->extents[3],
                      x->extents[3], 1};
      std::uint64_t bytes = 0;
      if (const attention_sequences* packed = m.numbers.of(step, i))
        bytes = attention_backward_varlen_workspace_bytes(s, without_batches(q), without_batches(k),
                                                          without_batches(v), *packed);
      else
        bytes = attention_backward_workspace_bytes(s, q, k, v);
      m.workspace_bytes = std::max(m.workspace_bytes, bytes);
    }
  }
  m.workspace = memory.take_bytes(m.workspace_bytes);
  return m;
}

void ring_backward(const context_call& call, std::string_view operation, const stream& s,
                   const ring_gradients& given, const context_attention_options& options,
                   const ring_backward_memory& memory) {
  group_rank& rank = call.rank;
  const stream& arrivals = rank.arrivals;
  const int ring = call.ring_ranks, group = call.group;
  const f32 scale = options.scale.value_or(1 / std::sqrt(static_cast<f32>(call.qk_size)));
  const auto& own = call.of_group[static_cast<std::size_t>(group)];
  const std::int64_t own_rows = count_of_rows(own);
  attention_view own_k = given.k, own_v = given.v;
  if (memory.k.exists()) {
    run_copy(s, memory.k, given.k);
    run_copy(s, memory.v, given.v);
    own_k = memory.k;
    own_v = memory.v;
  }
  const auto rows_of_group = [&](int g) { return std::span(call.of_group[static_cast<std::size_t>(g)]); };
  const auto buffer_of = [](int step) { return static_cast<std::size_t>(step - 1) % 2; };
  const auto plan = [&](int step) -> const ring_step& { return call.steps[static_cast<std::size_t>(step)]; };
  const auto received = [&](const attention_view& tensor, int step) {
    return with_rows(tensor, count_of_rows(rows_of_group(call.owner(step))));
  };
  const auto fetch = [&](int step) {
    if (step >= ring) return;
    if (step > 2) arrivals.wait(rank.marks[computed + buffer_of(step)]);
    const std::size_t b = buffer_of(step);
    std::vector<transfer> sends, receives;
    const auto &theirs = plan(step).needed_there, &mine = plan(step).needed_here;
    for (const attention_view& tensor : {own_k, own_v})
      add_rows(sends, tensor, theirs, call.rank_of(call.holder(step)));
    for (const attention_view& tensor : {memory.k_of[b], memory.v_of[b]})
      add_rows(receives, received(tensor, step), mine, call.rank_of(call.owner(step)));
    exchange_in(call, operation, arrivals, sends, receives);
    arrivals.record(rank.marks[arrived + b]);
  };
  // The gradients of a step go to the owner of the keys; those of own keys come.
  const auto give_back = [&](int step) {
    const std::size_t b = buffer_of(step);
    s.record(rank.marks[computed + b]);
    arrivals.wait(rank.marks[computed + b]);
    std::vector<transfer> sends, receives;
    const auto &theirs = plan(step).needed_there, &mine = plan(step).needed_here;
    for (const attention_view& tensor : {memory.dk_of[b], memory.dv_of[b]})
      add_rows(sends, received(tensor, step), mine, call.rank_of(call.owner(step)));
    for (const attention_view& tensor : {memory.dk_from[b], memory.dv_from[b]})
      add_rows(receives, tensor, theirs, call.rank_of(call.holder(step)));
    exchange_in(call, operation, arrivals, sends, receives);
    arrivals.record(rank.marks[returned + b]);
  };
  const auto take_back = [&](int step) {
    const std::size_t b = buffer_of(step);
    s.wait(rank.marks[returned + b]);
    for (const context_rows& r : plan(step).needed_there) {
      add(s, rows_of(memory.dk, r.begin, r.count), rows_of(memory.dk_from[b], r.begin, r.count), true);
      add(s, rows_of(memory.dv, r.begin, r.count), rows_of(memory.dv_from[b], r.begin, r.count), true);
    }
  };
  const auto zero = [&](const attention_view& v) {
    fill(s, runtime::device_pointer<u32>{v.address, static_cast<std::size_t>(elements_of(v)), v.device}, 0);
  };

  if (ring > 1) {
    s.record(rank.marks[begun]);
    arrivals.wait(rank.marks[begun]);
    fetch(1);
  }
  for (const attention_view& sum : {memory.dq, memory.dk, memory.dv}) zero(sum);
  for (int step = 0; step < ring; ++step) {
    const std::size_t b = buffer_of(std::max(step, 1));
    attention_view keys = own_k, values = own_v, dk = memory.dk, dv = memory.dv;
    if (step > 0) {
      fetch(step + 1);
      s.wait(rank.marks[arrived + b]);
      keys = received(memory.k_of[b], step);
      values = received(memory.v_of[b], step);
      dk = received(memory.dk_of[b], step);
      dv = received(memory.dv_of[b], step);
      zero(dk);
      zero(dv);
    }
    for (std::size_t i = 0; i < plan(step).items.size(); ++i) {
      const ring_item& item = plan(step).items[i];
      const attention_sequences* packed = memory.numbers.of(step, i);
      const auto shaped = [&](const attention_view& x) { return packed ? without_batches(x) : x; };
      const auto of_queries = [&](const attention_view& x) {
        return shaped(rows_of(x, item.query, item.queries));
      };
      const auto of_keys = [&](const attention_view& x) { return shaped(rows_of(x, item.key, item.keys)); };
      attention_backward_options o;
      o.forward = options_of(options, item, scale);
      o.workspace.address = memory.workspace;
      o.workspace.bytes = memory.workspace_bytes;
      o.workspace.device = s.device_identity();
      const attention_view dq_part = with_rows(memory.dq_part, item.queries),
                           dk_part = with_rows(memory.dk_part, item.keys),
                           dv_part = with_rows(memory.dv_part, item.keys);
      attention_gradient to_dq, to_dk, to_dv;
      to_dq.view = shaped(dq_part);
      to_dk.view = shaped(dk_part);
      to_dv.view = shaped(dv_part);
      attention_row_input lse;
      lse.view = shaped(part_of(given.lse, row_of_lse, item.query, item.queries));
      if (packed)
        attention_backward_varlen(s, of_queries(given.dout), of_queries(given.q), of_keys(keys),
                                  of_keys(values), of_queries(given.out), lse, to_dq, to_dk, to_dv, *packed,
                                  o);
      else
        attention_backward(s, of_queries(given.dout), of_queries(given.q), of_keys(keys), of_keys(values),
                           of_queries(given.out), lse, to_dq, to_dk, to_dv, o);
      add(s, rows_of(memory.dq, item.query, item.queries), dq_part, true);
      add(s, rows_of(dk, item.key, item.keys), dk_part, true);
      add(s, rows_of(dv, item.key, item.keys), dv_part, true);
    }
    if (step > 0) give_back(step);
    if (step > 1) take_back(step - 1);
  }
  if (ring > 1) {
    take_back(ring - 1);
    arrivals.record(rank.marks[ended]);
    s.wait(rank.marks[ended]);
  }
  if (own_rows == 0) return;
  if (given.dq.exists()) run_copy(s, given.dq, memory.dq);
  if (given.dk.exists()) run_copy(s, given.dk, memory.dk);
  if (given.dv.exists()) run_copy(s, given.dv, memory.dv);
}

}  // namespace kaio::ops::detail
