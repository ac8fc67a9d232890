#pragma once
// The steps of a block of attention_decode of few rows for sm_90 (kernel.hpp), for every cache format. Body
// has the steps that differ between kernels.
//
//   Body::config, accumulator, operands, warp_copies, sums_type, output
//   start(t)                  a warp's sums before its first key: .o_parts, .softmax
//   multiply(...)             all keys of the warp
//   leave(...)                its sums, to its entry of the ring
//   compute_again(...)        rows that have become NaN through values to which they do not attend

#include <kaio/dsl/async.hpp>
#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/attention/decode/common/block.hpp>
#include <kaio/ops/attention/decode/mma_sync_sm90/copies.hpp>

#include <cstdint>

namespace kaio::ops {

// The number of rows of the tile; 1 if it has none.
constexpr val<u32> rows_of_decode_tile(thread t, const val<attention_split>& split, const decode_rows& block,
                                       std::uint32_t rows) {
  const val all = rows_of_sequence(t, split, block);
  return t.let(max(min(max(all, block.first_row) - block.first_row, u32{rows}), 1u));
}

// Finds, among a thread's two rows that exist, those with NaN or infinities of both signs among their sums,
// but no NaN in their weights.
template <class Parts, class Totals>
constexpr auto rows_with_nan(thread t, const val<attention_split>& split, const decode_block& block,
                             const val<u32>& row, const Parts& o_parts, const Totals& totals) {
  const val rows = rows_of_sequence(t, split, block);
  return array_of<2>([&](u32 r) {
    var any(t, 0.0f);
    for (const auto& part : o_parts)
      for (u32 e = 2 * r; e < 2 * r + 2; ++e) any += part.registers[e];
    return t.let(all_of(isnan(any), !isnan(totals[r].sum), block.first_row + row + 8 * r < rows));
  });
}

template <class Body, class Functions>
constexpr void run_attention_decode_sm90(thread t, const val<attention_problem>& problem,
                                         const val<attention_cache>& cache, const val<attention_split>& split,
                                         const Functions& functions, const Body& body) {
  constexpr auto C = Body::config;
  using operands = typename Body::operands;
  using warp_copies = typename Body::warp_copies;
  const typename warp_copies::ring tiles(t);  // own_keys x depth each, of K and of V
  const typename Body::sums_type sums(t, tiles);
  const shared<i32, C.warps()> lengths_of(t);
  const decode_place place = find_place<true>(t, split);
  const decode_columns columns = warp_copies::columns_of(t, problem, place.group);
  sums.open(split);
  const val none = t.let(0u);
  const val warp = t.let(t.warp_rank()), row = t.let(Body::accumulator::layout::lane_row(t.lane_rank()));
  const val factor = functions.factor(t.let(problem[&attention_problem::scale]));
  const val lengths = t.let(cache[&attention_cache::lengths]);
  const val numbers_settled =
      t.let(split[&attention_split::unsettled] != static_cast<u32>(decode_unsettled::everything));
  const val at_length = t.let(lengths + cast<u64>(place.batch) * u64{sizeof(i32)});
  const val asks = t.let(all_of(t.lane_rank() == 0u, lengths != u64{0}));
  begin_early<true>(t, split);
  // The length is requested first, and Q meanwhile. It is a copy, since compilers move a load down to its
  // use.
  if (auto one = t.when(asks)) cp_async<4>(lengths_of[warp], pointer_at<in<i32>>(t, at_length)[none]);
  cp_async_commit_group(t);
  const decode_rows of_block = find_rows(t, problem, place, C.rows);
  const val rows = rows_of_decode_tile(t, split, of_block, C.rows);
  auto q_rows = array_of<2>([&](u32) { return operands::no_row(t); });
  const auto load_q = [&] {
    const auto loaded = array_of<2>(
        [&](u32 r) { return operands::load_row(t, problem, split, of_block, t.let(row + 8 * r), rows); });
    for (u32 r = 0; r < 2; ++r) operands::keep_row(q_rows[r], loaded[r]);
  };
  // A tile beyond the rows of its sequence has no row of Q to load, and Q may end before it.
  const val has_rows = t.let(of_block.first_row < rows_of_sequence(t, split, of_block));
  if (auto early = t.when(all_of(!numbers_settled, has_rows))) load_q();
  const decode_block block =
      find_decode_block(t, cache, split, functions, of_block, place.split, C.rows, C.keys, [&] {
        cp_async_wait_group<0>(t);
        sync_warp(t);
        return t.let(lengths_of[warp]);
      });

  const val works = t.let(all_of(has_work(t, split, block), block.first < block.last));
  auto state = body.start(t);
  const auto load_late = [&] {
    if (auto late = t.when(numbers_settled)) load_q();
  };
  if (auto keys = t.when(works))
    body.multiply(t, problem, cache, split, functions, block, columns, tiles, warp, factor, rows, load_late,
                  q_rows, state);
  if (auto idle = t.otherwise()) grid_dependency_wait(t);

  const auto totals = array_of<2>([&](u32 r) { return state.softmax.total(r, factor); });
  sync_warp(t);  // the warp's tiles are in registers now
  body.leave(t, sums, warp, row, rows, state, totals);
  // A single query attends to all keys that are read.
  if (auto several = t.when(problem[&attention_problem::queries] != 1u))
    body.compute_again(t, problem, cache, split, functions, block, warp, row, factor, state, totals, sums);
  sums.template combine<typename Body::output>(problem, split, block, works);
}

}  // namespace kaio::ops
