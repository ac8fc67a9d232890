#pragma once
// Blocks that share a tile of keys. With few tiles of keys, most multiprocessors would be idle. Then each tile
// has several parts: each part is a block with a run of the tile's steps (steps.hpp). All parts leave their
// f32 sums of dK and dV in the workspace. The last kernel adds them, in order (finish.hpp).
//
//   ticket            0             1             2             3
//   tile, part        0, 0          0, 1          1, 0          1, 1
//
//   sums in memory    for each 64 keys and part: dK, then dV, both of C.depth_qk columns
//   dK or dV          for 8 columns after the other: 4 registers of each thread of a warpgroup

#include <kaio/dsl/dsl.hpp>
#include <kaio/dsl/memory.hpp>
#include <kaio/ops/attention/backward/common/key_block.hpp>
#include <kaio/ops/attention/backward/common/problem.hpp>

#include <cstdint>

namespace kaio::ops {

inline constexpr std::uint32_t keys_of_sums = 64;  // of a warpgroup

template <auto C>
inline constexpr std::uint32_t floats_of_part = keys_of_sums * (C.depth_qk + C.depth_v);

// Leaves accumulators of a warpgroup, for its 64 keys from `own_row` of the block's keys on. `first`: their first
// column, where those of dV follow those of dK.
template <auto C, class... Sums>
constexpr void leave_part(thread t, const val<attention_gradients>& gradients,
                          const attention_key_block& keys, const val<u32>& part, const val<u32>& own_row,
                          u32 first, const Sums&... sums) {
  static_assert(C.depth_qk == C.depth_v && C.keys % keys_of_sums == 0);
  const val head = t.let(keys.batch * gradients[&attention_gradients::key_heads] + keys.group);
  const val tile = t.let(head * gradients[&attention_gradients::sum_key_tiles] +
                         (keys.first_key + own_row) / keys_of_sums);
  const val slot = t.let(tile * gradients[&attention_gradients::query_parts] + part);
  const auto to =
      pointer_at<inout<f32>>(t, t.let(gradients[&attention_gradients::part_sums]))
          .from(cast<u64>(slot) * u64{floats_of_part<C>} + cast<u64>(t.thread_rank() % 128u * 4u));
  u32 at = first * keys_of_sums;
  const auto leave = [&](const auto& x) {
    for (u32 i = 0; i < x.size(); i += 4, at += 512)
      store_vec(to[at], make_vec(x[i], x[i + 1], x[i + 2], x[i + 3]));
  };
  (leave(sums), ...);
}

}  // namespace kaio::ops
