#pragma once
// Blocks of Q4_0 as the packed weights of matmul_w4: the codes and the scales are the same numbers, at other places.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/quantised/w4/place.hpp>

#include <cstdint>

namespace kaio::ops {

struct q4_0_source {
  w4_packed w;  // groups of 32, scales of f16, no zero points
  u64 bytes;
};

namespace detail {
// The block of 18 bytes with element (n, k).
template <class W>
constexpr val<u64> q4_0_block(thread t, const val<u64>& bytes, const W& w, const val<u32>& n,
                              const val<u32>& group) {
  const val block = t.let(cast<u64>(n) * cast<u64>(w[&w4_packed::groups]) + cast<u64>(group));
  return t.let(bytes + block * u64{18});
}
}  // namespace detail

// Launched with a block for each tile, and one for each tiles_n of each group, 32 threads of which work.
inline constexpr auto repack_q4_0 =
    kaio::kernel<"repack_q4_0", block_size{w4_tile_threads}>([](thread t, val<q4_0_source> source) {
      const auto w = source[&q4_0_source::w];
      const val bytes = t.let(source[&q4_0_source::bytes]);
      const val tiles_n = t.let(w[&w4_packed::tiles_n]), tiles_k = t.let(w[&w4_packed::tiles_k]);
      const val n = t.let(w[&w4_packed::n]), k = t.let(w[&w4_packed::k]);
      const val tiles = t.let(tiles_n * tiles_k);
      const val block = t.let(block_idx_x());
      if (auto codes = t.when(block < tiles)) {
        const w4_word word = find_word(t, block, tiles_k);
        var result(t, 0u);
        for (u32 i = 0; i < 8; ++i) {
          const val own_n = t.let(word.n + w4_word::further_n(i));
          const val own_k = t.let(word.k + w4_word::further_k(i));
          if (auto exists = t.when(all_of(own_n < n, own_k < k))) {
            const val from = detail::q4_0_block(t, bytes, w, own_n, t.let(own_k / 32u));
            const val at = t.let(from + u64{2} + cast<u64>(own_k & 15u));
            const val pair = t.let(cast<u32>(pointer_at<in<u8>>(t, at)[0]));
            result |= (pair >> ((own_k >> 2) & 4u) & 15u) << (4 * w4_word::nibble(i));
          }
        }
        pointer_at<out<u32>>(t, t.let(w[&w4_packed::codes]))[word.at] = result;
      }
      const val of_group = t.let(block - tiles), lane = t.thread_rank();
      if (auto facts = t.when(all_of(block >= tiles, lane < 32u))) {
        const val group = t.let(of_group / tiles_n);
        const val column = t.let((of_group - group * tiles_n) * w4_tile_n + lane);
        const val place = t.let(cast<u64>(of_group) * u64{w4_tile_n} + cast<u64>(lane));
        var scale(t, cast<u16>(t.let(column * 0u)));
        if (auto has = t.when(column < n)) {
          const val from = detail::q4_0_block(t, bytes, w, column, group);
          scale = pointer_at<in<u16>>(t, from)[0];
        }
        pointer_at<out<u16>>(t, t.let(w[&w4_packed::scales]))[place] = scale;
      }
    });

}  // namespace kaio::ops
