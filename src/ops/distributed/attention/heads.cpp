#include "ops/distributed/attention/heads.hpp"

#include <kaio/ops/copy.hpp>
#include <kaio/ops/embedding.hpp>

#include <utility>

#include "ops/distributed/common/views.hpp"

namespace kaio::ops::detail {

namespace {

// A dimension of heads as (ranks, heads of a rank), the ranks first.
any_view by_rank(const any_view& v, std::uint32_t heads, int ranks) {
  any_view result = v;
  result.rank = v.rank + 1;
  for (std::uint32_t d = v.rank; d-- > 0;) {
    result.extents[d + 1] = v.extents[d];
    result.strides[d + 1] = v.strides[d];
  }
  result.extents[0] = ranks;
  result.extents[heads + 1] = v.extents[heads] / ranks;
  result.strides[0] = v.strides[heads] * result.extents[heads + 1];
  return result;
}

// Entry i of the first dimension.
any_view entry(const any_view& v, std::int64_t i) {
  any_view result = part_of(v, 0, i, 1);
  result.rank = v.rank - 1;
  for (std::uint32_t d = 0; d < result.rank; ++d) {
    result.extents[d] = v.extents[d + 1];
    result.strides[d] = v.strides[d + 1];
  }
  return result;
}

std::vector<context_rows> one_after_another(std::span<const context_rows> rows) {
  std::vector<context_rows> result;
  std::int64_t first = 0;
  for (const context_rows& r : rows) {
    result.push_back({first, r.count});
    first += r.count;
  }
  return result;
}

// A tensor without gaps as (rows, elements of a row).
any_view as_rows(const any_view& v, std::int64_t rows) {
  any_view result = v;
  result.rank = 2;
  result.extents = {rows, rows == 0 ? 0 : elements_of(v) / rows};
  result.strides = {result.extents[1], 1};
  return result;
}

// (heads, rows) as (rows, heads).
any_view turned(const any_view& v) {
  any_view result = v;
  std::swap(result.extents[0], result.extents[1]);
  std::swap(result.strides[0], result.strides[1]);
  return result;
}

transfer whole(const any_view& v, int rank) {
  any_view run = v;
  run.rank = 1;
  run.extents = {elements_of(v)};
  run.strides = {1};
  return {run, rank};
}

}  // namespace

void heads_exchange::divide(const context_call& call, tensor_memory& memory, exchanged_tensor& t,
                            std::int64_t heads, std::int64_t size) {
  const std::int64_t own = heads / call.head_ranks;
  t.staging = memory.take(call.type, {call.head_ranks, call.batches, call.rows(), own, size});
  t.of_group = memory.take(call.type, {call.batches, call.group_rows(), own, size});
  if (call.mixes_rows()) t.by_rank = memory.take(call.type, {call.batches, call.group_rows(), own, size});
}

heads_exchange::lse_staging heads_exchange::staging_of_lse(const context_call& call, tensor_memory& memory) {
  const std::int64_t heads = call.q_heads / call.head_ranks;
  lse_staging result;
  result.of_rank = memory.take(element_kind::f32, {call.head_ranks, call.batches, heads, call.rows()});
  for (int m = 0; m < call.head_ranks; ++m)
    result.of_group.push_back(
        memory.take(element_kind::f32, {call.batches, heads, count_of_rows(call.in_group(m))}));
  if (call.mixes_rows())
    for (attention_view* v : {&result.by_rank, &result.by_group})
      *v = memory.take(element_kind::f32, {call.group_rows(), heads});
  return result;
}

void heads_exchange::to_group(const std::vector<exchanged_tensor>& tensors) const {
  move(tensors, direction::to_group);
}
void heads_exchange::to_rank(const std::vector<exchanged_tensor>& tensors) const {
  move(tensors, direction::to_rank);
}

void heads_exchange::move(const std::vector<exchanged_tensor>& tensors, direction d) const {
  constexpr std::uint32_t heads = 2;
  if (d == direction::to_group)
    for (const exchanged_tensor& t : tensors)
      run_copy(s_, t.staging, by_rank(t.of_rank, heads, call_.head_ranks));
  const bool mixes = call_.mixes_rows(), to_group = d == direction::to_group;
  const std::int64_t rows = call_.group_rows();
  const auto order = [&](const attention_view& to, const attention_view& from, const any_view& rows_of_from) {
    run_embedding(s_, rows_of_from, as_rows(from, rows), as_rows(to, rows), {});
  };
  if (mixes && !to_group)
    for (const exchanged_tensor& t : tensors) order(t.by_rank, t.of_group, numbers_.by_group());
  auto own = one_after_another(call_.of_rank[static_cast<std::size_t>(call_.rank.rank)]);
  if (mixes) own = joined_rows(own);
  std::vector<transfer> sends, receives;
  std::int64_t first = 0;
  for (int m = 0; m < call_.head_ranks; ++m) {
    const int rank = call_.group * call_.head_ranks + m;
    std::vector<context_rows> theirs = call_.in_group(m);
    const std::int64_t count = count_of_rows(theirs);
    if (mixes) theirs = {{first, count}};
    first += count;
    for (const exchanged_tensor& t : tensors) {
      add_rows(to_group ? sends : receives, entry(t.staging, m), own, rank);
      add_rows(to_group ? receives : sends, mixes ? t.by_rank : t.of_group, theirs, rank);
    }
  }
  exchange_in(call_, operation_, s_, sends, receives);
  if (mixes && to_group)
    for (const exchanged_tensor& t : tensors) order(t.of_group, t.by_rank, numbers_.by_rank());
  if (d == direction::to_rank)
    for (const exchanged_tensor& t : tensors)
      run_copy(s_, by_rank(t.of_rank, heads, call_.head_ranks), t.staging);
}

void heads_exchange::lse_to_group(const attention_view& of_rank, const attention_view& of_group,
                                  const lse_staging& staging) const {
  move_lse(of_rank, of_group, staging, direction::to_group);
}
void heads_exchange::lse_to_rank(const attention_view& of_rank, const attention_view& of_group,
                                 const lse_staging& staging) const {
  move_lse(of_rank, of_group, staging, direction::to_rank);
}

void heads_exchange::move_lse(const attention_view& of_rank, const attention_view& of_group,
                              const lse_staging& staging, direction d) const {
  constexpr std::uint32_t heads = 1, rows = 2;
  const std::int64_t all_rows = call_.group_rows();
  // The lse of the ranks, one after another, as rows of their heads.
  const auto in_order_of_ranks = [&](bool out_of_it) {
    if (out_of_it) {
      run_copy(s_, staging.by_group, turned(entry(of_group, 0)));
      run_embedding(s_, numbers_.by_group(), staging.by_group, staging.by_rank, {});
    }
    std::int64_t first = 0;
    for (const attention_view& block : staging.of_group) {
      const any_view one = turned(entry(block, 0)), all = part_of(staging.by_rank, 0, first, one.extents[0]);
      if (one.extents[0] > 0) run_copy(s_, out_of_it ? one : all, out_of_it ? all : one);
      first += one.extents[0];
    }
    if (out_of_it || all_rows == 0) return;
    run_embedding(s_, numbers_.by_rank(), staging.by_rank, staging.by_group, {});
    run_copy(s_, turned(entry(of_group, 0)), staging.by_group);
  };
  const auto in_group = [&](bool out_of_it) {
    if (call_.mixes_rows()) return in_order_of_ranks(out_of_it);
    for (int m = 0; m < call_.head_ranks; ++m) {
      const attention_view& block = staging.of_group[static_cast<std::size_t>(m)];
      std::int64_t first = 0;
      for (const context_rows& r : call_.in_group(m)) {
        const any_view there = part_of(of_group, rows, r.begin, r.count),
                       here = part_of(block, rows, first, r.count);
        if (r.count > 0) run_copy(s_, out_of_it ? here : there, out_of_it ? there : here);
        first += r.count;
      }
    }
  };
  if (d == direction::to_group)
    run_copy(s_, staging.of_rank, by_rank(of_rank, heads, call_.head_ranks));
  else
    in_group(true);
  std::vector<transfer> sends, receives;
  for (int m = 0; m < call_.head_ranks; ++m) {
    const int rank = call_.group * call_.head_ranks + m;
    const transfer mine = whole(entry(staging.of_rank, m), rank);
    const transfer theirs = whole(staging.of_group[static_cast<std::size_t>(m)], rank);
    const bool to_group = d == direction::to_group;
    if (!mine.memory.empty()) (to_group ? sends : receives).push_back(mine);
    if (!theirs.memory.empty()) (to_group ? receives : sends).push_back(theirs);
  }
  exchange_in(call_, operation_, s_, sends, receives);
  if (d == direction::to_group)
    in_group(false);
  else
    run_copy(s_, by_rank(of_rank, heads, call_.head_ranks), staging.of_rank);
}

}  // namespace kaio::ops::detail
