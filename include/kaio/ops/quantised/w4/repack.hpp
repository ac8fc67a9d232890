#pragma once
// Weights of four bits from words of files to the layout of the kernels (layout.hpp).

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/quantised/w4/place.hpp>

#include <cstdint>

namespace kaio::ops {

namespace detail {

// Nibble `i`, of the device, of a word.
template <class I>
constexpr auto nibble_of(const val<u32>& word, const I& i) {
  return word >> (i * 4u) & 15u;
}
// Where AutoAWQ puts column i of eight.
constexpr val<u32> interleaved(thread t, const val<u32>& i) { return t.let(i / 2u | (i & 1u) << 2); }

}  // namespace detail

inline constexpr u32 w4_order_threads = 128;

// The columns of x for k in the order of their groups: row `group * g + i` is the i-th k whose group is g. A
// group without so many leaves the number of the row itself, so that an order that has none, or zeros alone,
// is that of the file. Launched with a thread for each k.
inline constexpr auto repack_w4_order = kaio::kernel<"repack_w4_order", block_size{w4_order_threads}>(
    [](thread t, in<i32> order, out<i32> rows, val<u32> k, val<u32> group) {
      const val row = t.global_id();
      if (auto exists = t.when(row < k)) {
        const val own = t.let(row / group);
        var left(t, row - own * group);
        var found(t, row);
        for (auto at : t.range(0u, k)) {
          const val fits = t.let(cast<u32>(order[at]) == own);
          found = select(all_of(fits, left == 0u), at, found);
          left = select(fits, left - 1u, left);
        }
        rows[row] = cast<i32>(found);
      }
    });

// Launched with a block for each tile, and one for each tiles_n of each group, 32 threads of which work.
inline constexpr auto repack_w4_tiles =
    kaio::kernel<"repack_w4", block_size{w4_tile_threads}>([](thread t, val<w4_source> source) {
      const auto w = source[&w4_source::w];
      const val tiles_n = t.let(w[&w4_packed::tiles_n]), tiles_k = t.let(w[&w4_packed::tiles_k]);
      const val n = t.let(w[&w4_packed::n]), k = t.let(w[&w4_packed::k]);
      const val tiles = t.let(tiles_n * tiles_k);
      const val block = t.let(block_idx_x());
      if (auto codes = t.when(block < tiles)) {
        const w4_word word = find_word(t, block, tiles_k);
        const auto from = pointer_at<in<u32>>(t, t.let(source[&w4_source::codes]));
        const val along_n = t.let(source[&w4_source::along_n] != 0u);
        const val k_shift = t.let(select(along_n, 0u, 3u)), n_shift = t.let(select(along_n, 3u, 0u));
        const val rows = t.let(w[&w4_packed::rows]);
        const val neighbours = t.let(w[&w4_packed::neighbours] != 0u);
        var result(t, 0u);
        for (u32 i = 0; i < 8; ++i) {
          const val own_n = t.let(word.n + w4_word::further_n(i));
          const val own_k = t.let(word.k + w4_word::further_k(i));
          if (auto exists = t.when(all_of(own_n < n, own_k < k))) {
            var row(t, own_k);
            if (auto ordered = t.when(rows != u64{0}))
              row = cast<u32>(pointer_at<inout<i32>>(t, rows)[own_k]);
            const val at = t.let(cast<i64>(row >> k_shift) * source[&w4_source::codes_k] +
                                 cast<i64>(own_n >> n_shift) * source[&w4_source::codes_n]);
            const val bits = t.let(from[at]);
            const val turned = detail::interleaved(t, t.let(own_n & 7u));
            const val code = t.let(detail::nibble_of(bits, t.let(select(along_n, turned, row & 7u))) ^
                                   source[&w4_source::flip]);
            result |= code << t.let(select(neighbours, 4 * i, 4 * w4_word::nibble(i)));
          }
        }
        pointer_at<out<u32>>(t, t.let(w[&w4_packed::codes]))[word.at] = result;
      }
      const val of_group = t.let(block - tiles), lane = t.thread_rank();
      if (auto facts = t.when(all_of(block >= tiles, lane < 32u))) {
        const val group = t.let(of_group / tiles_n);
        const val column = t.let((of_group - group * tiles_n) * w4_tile_n + lane);
        const val exists = t.let(column < n);
        const val place = t.let(cast<u64>(of_group) * u64{w4_tile_n} + cast<u64>(lane));
        var scale(t, cast<u16>(t.let(column * 0u)));
        if (auto has = t.when(exists)) {
          const val at = t.let(cast<i64>(group) * source[&w4_source::scales_group] +
                               cast<i64>(column) * source[&w4_source::scales_n]);
          scale = pointer_at<in<u16>>(t, t.let(source[&w4_source::scales]))[at];
        }
        pointer_at<out<u16>>(t, t.let(w[&w4_packed::scales]))[place] = scale;
        const val zeros = t.let(w[&w4_packed::zeros]);
        if (auto some = t.when(zeros != u64{0})) {
          var zero(t, 0u);
          if (auto has = t.when(exists)) {
            const val at = t.let(cast<i64>(group) * source[&w4_source::zeros_group] +
                                 cast<i64>(column / 8u) * source[&w4_source::zeros_n]);
            const val bits = t.let(pointer_at<in<u32>>(t, t.let(source[&w4_source::zeros]))[at]);
            const val along_n = t.let(source[&w4_source::along_n] != 0u);
            const val natural = t.let(column & 7u);
            const val turned = detail::interleaved(t, natural);
            zero = (detail::nibble_of(bits, t.let(select(along_n, turned, natural))) +
                    source[&w4_source::zeros_add]) &
                   15u;
          }
          const val next = t.let(shfl_down(zero, 1u));
          if (auto even = t.when((lane & 1u) == 0u))
            pointer_at<out<u8>>(t, zeros)[place / u64{2}] = cast<u8>(zero | next << 4);
        }
      }
    });

}  // namespace kaio::ops
