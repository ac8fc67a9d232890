#pragma once
// The fixed order in which blocks that own keys add to the same dQ. The sums are f32 in the workspace. Each
// tile of queries has a turn: the number of the tile of keys that was added last, plus 1.
//
//   tile of keys        0      1      2        A block waits until the turn is the number of its tile, adds,
//   turn of queries     0 -> 1 -> 2 -> 3       and passes the turn on. The first block that attends to the
//                                              queries stores instead, so no sum has to be zeroed before.
//
// A block waits for the block of the tile of keys before its own, which has a smaller ticket. Blocks take a
// ticket when they begin, and one for each next tile. The tiles of a head have rising tickets. Among the
// unfinished tiles with tickets, the one with the smallest ticket therefore waits for none, however many
// blocks are resident.
//
// Blocks walk over the queries from the last to the first. With a causal mask, or none, all blocks of a head
// begin at the same tile of queries. Each block then has to be one addition later than the block before it.
// Therefore the tiles of several heads take turns. Few running blocks belong to the same head, and they end,
// and the next ones begin, one after the other. With too many heads, L2 would not hold what their blocks read
// and add to. With a window bounded on the left, a block begins some steps later in the walk than the block
// before it, and does not wait.
//
// With few heads, many tiles of a head run at a time. Then the tiles of keys form groups, and each group has
// turns and sums of its own: tile j is in group j % groups. The last kernel adds the sums of the groups, in
// order.
//
//   heads together: 2      ticket  0  1  2  3  4  5  6  7  8  9 10 11
//   tiles of a head: 3     head    0  1  0  1  0  1  2  3  2  3  2  3
//                          tile    0  0  1  1  2  2  0  0  1  1  2  2

#include <kaio/dsl/async.hpp>
#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/attention/backward/common/problem.hpp>
#include <kaio/ops/attention/common/block.hpp>

#include <cstdint>

namespace kaio::ops {

inline constexpr std::uint32_t rows_of_dq_tile = 64;
inline constexpr std::uint32_t first_turn = 4;  // the ticket comes before, alone in 16 bytes

// The number of the 64-query tile at which a block of a head begins. A packed sequence begins at an even
// tile, after those of earlier sequences. At most 128 rows are left out between two sequences.
// `further`: the distance of the block's sums from those of group 0.
constexpr val<u32> dq_tile_of(thread t, const val<attention_problem>& problem,
                              const val<attention_gradients>& gradients, const attention_block& block,
                              const val<u32>& further) {
  const val packed = t.let(problem[&attention_problem::packed] != 0u);
  const val head =
      t.let(select(packed, block.head, block.batch * problem[&attention_problem::heads] + block.head));
  const val before =
      t.let(select(packed, (block.first_q_row / (2 * rows_of_dq_tile) + block.batch) * 2u, 0u));
  return t.let(head * gradients[&attention_gradients::dq_tiles] + (before + further) +
               block.first_query / rows_of_dq_tile);
}

constexpr auto turn_of(thread t, const val<attention_gradients>& gradients, const val<u32>& tile) {
  return pointer_at<inout<u32>>(t, t.let(gradients[&attention_gradients::turns]))[tile + first_turn];
}
// The distance of the sums of a tile of keys from those of group 0, in tiles of queries. The number of groups
// is a power of two.
constexpr val<u32> group_offset(thread t, const val<attention_gradients>& gradients, const val<u32>& number) {
  return t.let((number & (gradients[&attention_gradients::dq_groups] - 1u)) *
               gradients[&attention_gradients::group_tiles]);
}
// The tile of keys of a ticket.
constexpr tile_of_head key_tile_in_turns(thread t, const val<attention_problem>& problem,
                                         const val<attention_gradients>& gradients, const val<u32>& ticket) {
  const val tiles = t.let(gradients[&attention_gradients::key_tiles]);
  const val heads = t.let(gradients[&attention_gradients::key_heads] * problem[&attention_problem::batches]);
  const val most = t.let(gradients[&attention_gradients::heads_at_once]);
  const val first = t.let(ticket / (most * tiles) * most);
  const val at_once = t.let(min(most, heads - first));
  const val of_these = t.let(ticket - first * tiles);
  const val tile = t.let(of_these / at_once);
  return {t.let(first + (of_these - tile * at_once)), tile};
}
// The n-th ticket of a block. Called by one thread. If all blocks of the launch are resident, the first ticket
// is the block's number: the block begins before the kernel that clears the turns has ended.
constexpr val<u32> take_ticket(thread t, const val<attention_gradients>& gradients, const val<u32>& n) {
  const val resident = t.let(gradients[&attention_gradients::all_resident] != 0u);
  var ticket(t, block_idx_x());
  if (auto counted = t.when(any_of(n != 0u, !resident))) {
    grid_dependency_wait(t);
    const val taken =
        atomic_add(pointer_at<inout<u32>>(t, t.let(gradients[&attention_gradients::turns]))[0], 1u);
    ticket = taken + select(resident, grid_dim_x(), 0u);
  }
  return t.let(ticket);
}
template <class Turn>
constexpr void await_turn(thread t, const Turn& turn, const val<u32>& number) {
  for (auto polls : t.loop()) {
    const val now = t.let(load(turn, order::acquire, scope::device));
    polls.break_if(now == number);
  }
}

// Resets the ticket and the turns before the first addition, with all threads of a grid.
constexpr void clear_turns(thread t, const val<attention_gradients>& gradients) {
  const val turns = t.let(gradients[&attention_gradients::turns]);
  for (auto i : t.grid_stride(t.let(gradients[&attention_gradients::turn_words])).no_unroll())
    pointer_at<inout<u32>>(t, turns)[i] = 0u;
}

}  // namespace kaio::ops
