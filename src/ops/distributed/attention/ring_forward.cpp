#include "ops/distributed/attention/ring_forward.hpp"

#include <kaio/ops/attention.hpp>
#include <kaio/ops/copy.hpp>
#include <kaio/ops/merge_states.hpp>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "ops/distributed/common/views.hpp"

namespace kaio::ops::detail {

namespace {

constexpr std::uint32_t row = 1, row_of_lse = 2;
enum mark : std::size_t { begun, arrived, freed = arrived + 2, ended = freed + 2 };

attention_view rows_of(const attention_view& v, std::int64_t first, std::int64_t count) {
  return part_of(v, row, first, count);
}
attention_view lse_of(const attention_view& v, std::int64_t first, std::int64_t count) {
  return part_of(v, row_of_lse, first, count);
}

// The results of the rows so far, piece by piece: in `out`, as steps give them, or joined in `sum`.
class joined_results {
 public:
  joined_results(const stream& s, const attention_view& out, const attention_view& sum,
                 const attention_view& lse)
      : s_(s), out_(out), sum_(sum), lse_(lse) {}

  void add_piece(std::int64_t first, std::int64_t count) { pieces_.push_back({first, count, 0, false}); }
  // Announces a merge.
  void expect(const ring_item& item) {
    for (piece& p : pieces_)
      if (part_of_piece(p, item).count > 0) ++p.left;
  }
  // Joins the result of an item.
  void merge(const ring_item& item, const attention_view& part, const attention_view& part_lse) {
    for (piece& p : pieces_) {
      const context_rows rows = part_of_piece(p, item);
      if (rows.count == 0) continue;
      const bool whole = rows.count == p.count, last = --p.left == 0, only = !p.in_sum && last;
      if (!p.in_sum && !only && !whole) convert(p);
      const bool to_sum = !only && !(last && whole);
      const attention_view& from = p.in_sum ? sum_ : out_;
      const attention_view lse = lse_of(lse_, rows.begin, rows.count);
      run_merge_states(
          s_, {rows_of(from, rows.begin, rows.count), lse, rows_of(part, rows.begin - item.query, rows.count),
               lse_of(part_lse, rows.begin - item.query, rows.count),
               rows_of(to_sum ? sum_ : out_, rows.begin, rows.count), lse});
      p.in_sum = to_sum;
    }
  }
  void finish() {
    for (const piece& p : pieces_)
      if (p.in_sum && sum_.address != out_.address)
        run_copy(s_, rows_of(out_, p.first, p.count), rows_of(sum_, p.first, p.count));
  }

 private:
  struct piece {
    std::int64_t first, count;
    int left;  // merges to come
    bool in_sum;
  };
  static context_rows part_of_piece(const piece& p, const ring_item& item) {
    const std::int64_t begin = std::max(p.first, item.query);
    const std::int64_t end = std::min(p.first + p.count, item.query + item.queries);
    return {begin, std::max<std::int64_t>(end - begin, 0)};
  }
  void convert(piece& p) {
    if (sum_.address != out_.address)
      run_copy(s_, rows_of(sum_, p.first, p.count), rows_of(out_, p.first, p.count));
    p.in_sum = true;
  }

  const stream& s_;
  const attention_view &out_, &sum_, &lse_;
  std::vector<piece> pieces_;
};

}  // namespace

ring_forward_memory ring_forward_tensors(const context_call& call, tensor_memory& memory, bool dense) {
  const std::int64_t heads = call.q_heads / call.head_ranks, k_heads = call.k_heads / call.head_ranks;
  const std::int64_t rows = call.group_rows(), b = call.batches;
  ring_forward_memory m;
  if (call.ring_ranks > 1) {
    if (!dense) {
      m.k = memory.take(call.type, {b, rows, k_heads, call.qk_size});
      m.v = memory.take(call.type, {b, rows, k_heads, call.v_size});
    }
    for (int i = 0; i < std::min(call.ring_ranks - 1, 2); ++i) {
      m.k_of[i] = memory.take(call.type, {b, call.most_rows(), k_heads, call.qk_size});
      m.v_of[i] = memory.take(call.type, {b, call.most_rows(), k_heads, call.v_size});
    }
  }
  m.part = memory.take(call.type, {b, rows, heads, call.v_size});
  m.part_lse = memory.take(element_kind::f32, {b, heads, rows});
  m.lse = memory.take(element_kind::f32, {b, heads, rows});
  if (call.type != element_kind::f32) m.sum = memory.take(element_kind::f32, {b, rows, heads, call.v_size});
  m.numbers = packed_numbers(call, memory);
  return m;
}

void ring_forward(const context_call& call, std::string_view operation, const stream& s,
                  const attention_view& q, const attention_view& k, const attention_view& v,
                  const attention_view& out, const attention_view& lse, const attention_view& sinks,
                  const context_attention_options& options, const ring_forward_memory& memory) {
  group_rank& rank = call.rank;
  const stream& arrivals = rank.arrivals;
  const int ring = call.ring_ranks, group = call.group;
  const f32 scale = options.scale.value_or(1 / std::sqrt(static_cast<f32>(call.qk_size)));
  const auto& own = call.of_group[static_cast<std::size_t>(group)];
  attention_view own_k = k, own_v = v;
  if (memory.k.exists()) {
    run_copy(s, memory.k, k);
    run_copy(s, memory.v, v);
    own_k = memory.k;
    own_v = memory.v;
  }
  const auto rows_of_group = [&](int g) { return std::span(call.of_group[static_cast<std::size_t>(g)]); };

  // What arrives in a step, as a tensor without gaps of the owner's rows.
  const auto received = [&](const attention_view& tensor, int step) {
    attention_view t = tensor;
    t.extents[row] = count_of_rows(rows_of_group(call.owner(step)));
    t.strides[0] = t.extents[row] * t.strides[row];
    return t;
  };
  const auto k_of = [&](int step) { return step == 0 ? own_k : received(memory.k_of[(step - 1) % 2], step); };
  const auto v_of = [&](int step) { return step == 0 ? own_v : received(memory.v_of[(step - 1) % 2], step); };
  const auto fetch = [&](int step) {
    if (step >= ring) return;
    if (step > 2) arrivals.wait(rank.marks[freed + static_cast<std::size_t>(step - 1) % 2]);
    std::vector<transfer> sends, receives;
    const ring_step& plan = call.steps[static_cast<std::size_t>(step)];
    for (const attention_view& tensor : {own_k, own_v})
      add_rows(sends, tensor, plan.needed_there, call.rank_of(call.holder(step)));
    for (const attention_view& tensor : {k_of(step), v_of(step)})
      add_rows(receives, tensor, plan.needed_here, call.rank_of(call.owner(step)));
    exchange_in(call, operation, arrivals, sends, receives);
    arrivals.record(rank.marks[arrived + static_cast<std::size_t>(step - 1) % 2]);
  };

  const attention_view& sum = call.type == element_kind::f32 ? out : memory.sum;
  const attention_view& all_lse = lse.exists() ? lse : memory.lse;
  joined_results results(s, out, sum, all_lse);
  std::int64_t first = 0;
  for (const context_rows& piece : own) {
    if (piece.count > 0 && call.lengths.empty()) results.add_piece(first, piece.count);
    first += piece.count;
  }
  // Pieces of packed sequences are short, and one item has many: their results are joined at once.
  if (first > 0 && !call.lengths.empty()) results.add_piece(0, first);
  // The first items that name a row write it.
  std::size_t firsts = 0;
  for (std::int64_t covered = 0; covered < first; ++firsts) covered += call.steps[0].items[firsts].queries;
  for (std::size_t step = 0; step < call.steps.size(); ++step)
    for (std::size_t i = step == 0 ? firsts : 0; i < call.steps[step].items.size(); ++i)
      results.expect(call.steps[step].items[i]);

  if (ring > 1) {
    s.record(rank.marks[begun]);
    arrivals.wait(rank.marks[begun]);
    fetch(1);
  }
  for (int step = 0; step < ring; ++step) {
    if (step > 0) {
      fetch(step + 1);
      s.wait(rank.marks[arrived + static_cast<std::size_t>(step - 1) % 2]);
    }
    const auto& list = call.steps[static_cast<std::size_t>(step)].items;
    const attention_view keys = k_of(step), values = v_of(step);
    for (std::size_t i = 0; i < list.size(); ++i) {
      const ring_item& item = list[i];
      attention_options o = options_of(options, item, scale);
      const bool writes = step == 0 && i < firsts;
      if (writes) o.sinks.view = sinks;
      const attention_view to =
          writes ? rows_of(out, item.query, item.queries) : rows_of(memory.part, 0, item.queries);
      const attention_view to_lse =
          writes ? lse_of(all_lse, item.query, item.queries) : lse_of(memory.part_lse, 0, item.queries);
      const attention_sequences* packed = memory.numbers.of(step, i);
      const auto shaped = [&](const attention_view& x) { return packed ? without_batches(x) : x; };
      o.lse.view = shaped(to_lse);
      run_attention(s, {operation, shaped(rows_of(q, item.query, item.queries)),
                        shaped(rows_of(keys, item.key, item.keys)),
                        shaped(rows_of(values, item.key, item.keys)), shaped(to), &o, false, false, packed});
      if (!writes) results.merge(item, to, to_lse);
    }
    if (step > 0) s.record(rank.marks[freed + static_cast<std::size_t>(step - 1) % 2]);
  }
  results.finish();
  if (ring > 1) {
    arrivals.record(rank.marks[ended]);
    s.wait(rank.marks[ended]);
  }
}

}  // namespace kaio::ops::detail
