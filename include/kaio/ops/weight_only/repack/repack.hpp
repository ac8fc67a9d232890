#pragma once
// The kernels that pack weights of files, and of other libraries' kernels, for matmul_w4 and matmul_w8
// (layout.hpp).

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/weight_only/common/place.hpp>
#include <kaio/ops/weight_only/repack/dequantise.hpp>

#include <cstdint>

namespace kaio::ops {

namespace detail {

struct w4_unit {
  val<i64> unit;
  val<u32> bit;  // from the beginning of the unit
};

template <class Place>
constexpr w4_unit unit_of(thread t, const Place& place, const val<u32>& row, const val<u32>& column) {
  var index(t, 0u);
  for (u32 i = 0; i < 8; ++i) {
    const val of_row = t.let(place[&w4_place::of_row][i]);
    const val of_column = t.let(place[&w4_place::of_column][i]);
    index += (row >> i & 1u) * of_row + (column >> i & 1u) * of_column;
  }
  const val rows = t.let(row >> t.let(place[&w4_place::row_bits]));
  const val columns = t.let(column >> t.let(place[&w4_place::column_bits]));
  const val unit = t.let(cast<i64>(rows) * place[&w4_place::row_units] +
                         cast<i64>(columns) * place[&w4_place::column_units]);
  return {unit, t.let(index * place[&w4_place::bits])};
}

// The number of (row, column), of at most 8 bits. It is read by bytes, as units may begin at any address.
template <class Place>
constexpr val<u32> number_at(thread t, const Place& place, const val<u32>& row, const val<u32>& column) {
  const w4_unit at = unit_of(t, place, row, column);
  const val from = t.let(place[&w4_place::address]);
  const val log2 = t.let(place[&w4_place::unit_log2]), bits = t.let(place[&w4_place::bits]);
  const val one = t.let(1u);
  const auto byte = [&](const val<u32>& bit) {
    const val unit = t.let(at.unit + cast<i64>(bit >> log2) * place[&w4_place::unit]);
    const val inside = t.let(bit >> 3 & ((one << (log2 - 3u)) - 1u));
    const val place_of_byte = t.let(cast<u64>(unit << (log2 - 3u)) + cast<u64>(inside));
    return t.let(cast<u32>(pointer_at<in<u8>>(t, from)[place_of_byte]));
  };
  var all(t, byte(at.bit));
  const val begin = t.let(at.bit & 7u);
  if (auto two = t.when(begin + bits > 8u)) all |= byte(t.let(at.bit + 8u)) << 8;
  return t.let(all >> begin & ((one << bits) - 1u));
}

// The index of element (row, column): f16, bf16 or f32, each a unit.
template <class Place>
constexpr val<u64> element_of(thread t, const Place& place, const val<u32>& row, const val<u32>& column) {
  const w4_unit at = unit_of(t, place, row, column);
  return t.let(cast<u64>(at.unit + cast<i64>(at.bit) * place[&w4_place::unit]));
}

}  // namespace detail

inline constexpr u32 w4_order_threads = 128;

// Sorts k by group: rows[group * g + i] is the i-th k of group g. If group g has fewer than i + 1 members,
// the entry is its own index. An order without valid groups, or of zeros alone, therefore keeps the file's
// order. Launched with a thread for each k.
inline constexpr auto repack_w4_act_order = kaio::kernel<"repack_w4_order", block_size{w4_order_threads}>(
    [](thread t, in<i32> act_order, out<i32> rows, val<u32> k, val<u32> group) {
      const val row = t.global_id();
      if (auto exists = t.when(row < k)) {
        const val own = t.let(row / group);
        var left(t, row - own * group);
        var found(t, row);
        for (auto at : t.range(0u, k)) {
          const val fits = t.let(cast<u32>(act_order[at]) == own);
          found = select(all_of(fits, left == 0u), at, found);
          left = select(fits, left - 1u, left);
        }
        rows[row] = cast<i32>(found);
      }
    });

// Launched with a block per tile, then one per tile along N of each group, in which 32 threads work.
inline constexpr auto repack_w4_tiles =
    kaio::kernel<"repack_w4", block_size{w4_tile_threads}>([](thread t, val<w4_source> source) {
      const auto w = source[&w4_source::w];
      const val tiles_n = t.let(w[&w4_packed::tiles_n]), tiles_k = t.let(w[&w4_packed::tiles_k]);
      const val n = t.let(w[&w4_packed::n]);
      const val tiles = t.let(tiles_n * tiles_k);
      const val block = t.let(block_idx_x());
      const val add = t.let(source[&w4_source::add]);
      const val eight = t.let(w[&w4_packed::codes_type] >= static_cast<u32>(w4_codes::int8));
      if (auto codes = t.when(block < tiles)) {
        const w4_word word = find_word(t, block, tiles_k);
        const val rows = t.let(w[&w4_packed::rows]);
        store_codes(t, word, w, eight, [&](const val<u32>& own_n, const val<u32>& own_k) {
          var row(t, own_k);
          if (auto act_order = t.when(rows != u64{0}))
            row = cast<u32>(pointer_at<inout<i32>>(t, rows)[own_k]);
          const val code = detail::number_at(t, source[&w4_source::codes], t.let(row), own_n);
          return t.let((code ^ source[&w4_source::flip]) + add);
        });
      }
      const val of_group = t.let(block - tiles), lane = t.thread_rank();
      if (auto scales_and_zeros = t.when(all_of(block >= tiles, lane < 32u))) {
        const val group = t.let(of_group / tiles_n);
        const val column = t.let((of_group - group * tiles_n) * w4_tile_n + lane);
        const val exists = t.let(column < n);
        const val place = t.let(cast<u64>(of_group) * u64{w4_tile_n} + cast<u64>(lane));
        const val type = t.let(source[&w4_source::scales_type]);
        const val scales = t.let(w[&w4_packed::scales]), zeros = t.let(w[&w4_packed::zeros]);
        const val as_f32 = t.let(w[&w4_packed::scale_type] == static_cast<u32>(w4_scale_type::f32));
        const val offsets = t.let(w[&w4_packed::offsets] != 0u);
        if (auto wide = t.when(as_f32)) {
          var scale(t, 0.0f);
          if (auto has = t.when(exists)) {
            const auto of_scales = source[&w4_source::scales];
            const val at = detail::element_of(t, of_scales, group, column);
            scale = detail::scale_at(t, type, t.let(of_scales[&w4_place::address]), at);
          }
          pointer_at<out<f32>>(t, scales)[place] = scale;
        }
        if (auto same = t.otherwise()) {
          var scale(t, cast<u16>(t.let(column * 0u)));
          if (auto has = t.when(exists)) {
            const auto of_scales = source[&w4_source::scales];
            const val at = detail::element_of(t, of_scales, group, column);
            scale = pointer_at<in<u16>>(t, t.let(of_scales[&w4_place::address]))[at];
          }
          pointer_at<out<u16>>(t, scales)[place] = scale;
        }
        if (auto some = t.when(offsets)) {
          var offset(t, 0.0f);
          if (auto has = t.when(exists)) {
            const auto of_offsets = source[&w4_source::offsets];
            const val at = detail::element_of(t, of_offsets, group, column);
            offset = detail::scale_at(t, type, t.let(of_offsets[&w4_place::address]), at);
          }
          pointer_at<out<f32>>(t, zeros)[place] = offset;
        }
        if (auto some = t.when(all_of(zeros != u64{0}, !offsets))) {
          var zero(t, 0u);
          if (auto has = t.when(exists))
            zero = ((detail::number_at(t, source[&w4_source::zeros], group, column) +
                     source[&w4_source::zeros_add]) &
                    source[&w4_source::zeros_mask]) +
                   add;
          const val next = t.let(shfl_down(zero, 1u));
          if (auto byte = t.when(eight)) pointer_at<out<u8>>(t, zeros)[place] = cast<u8>(zero);
          if (auto even = t.when(all_of(!eight, (lane & 1u) == 0u)))
            pointer_at<out<u8>>(t, zeros)[place / u64{2}] = cast<u8>(zero | next << 4);
        }
      }
    });

}  // namespace kaio::ops
