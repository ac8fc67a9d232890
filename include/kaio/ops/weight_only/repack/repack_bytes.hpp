#pragma once
// The kernel that packs weights of four or eight bits from bytes of files (layout.hpp).

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/weight_only/common/place.hpp>
#include <kaio/ops/weight_only/repack/dequantise.hpp>

#include <cstdint>

namespace kaio::ops {

namespace detail {

// The scale of a group and column, as f32. Nested scales are those of bitsandbytes, bit for bit.
template <class Source>
constexpr val<f32> scale_of_source(thread t, const Source& source, const val<u32>& group,
                                   const val<u32>& column) {
  const val of_columns = divide(t, column, source[&w4_bytes_source::scales_columns]).whole;
  const val at = t.let(cast<i64>(group) * source[&w4_bytes_source::scales_group] +
                       cast<i64>(of_columns) * source[&w4_bytes_source::scales_n]);
  const val nested = t.let(source[&w4_bytes_source::nested_table]);
  var result(t, 0.0f);
  if (auto two = t.when(nested != u64{0})) {
    const val code = t.let(cast<u32>(pointer_at<in<u8>>(t, t.let(source[&w4_bytes_source::scales]))[at]));
    const val outer = divide(t, t.let(cast<u32>(at)), source[&w4_bytes_source::nested_block]).whole;
    const val scale = t.let(pointer_at<in<f32>>(t, t.let(source[&w4_bytes_source::nested_scales]))[outer]);
    const val number = t.let(pointer_at<in<f32>>(t, nested)[code]);
    // With -0 the product is rounded before the offset is added.
    const val product = t.let(fma(number, scale, -0.0f));
    result = product + source[&w4_bytes_source::nested_offset];
  }
  if (auto one = t.otherwise()) {
    const val type = t.let(source[&w4_bytes_source::scales_type]);
    const val scales = t.let(source[&w4_bytes_source::scales]);
    const val scale = scale_at(t, type, scales, t.let(cast<u64>(at)));
    result = scale * source[&w4_bytes_source::scale_factor];
  }
  return t.let(result);
}

}  // namespace detail

// Launched with a block per tile, then one per tile along N of each group, in which 32 threads work.
inline constexpr auto repack_w4_from_bytes =
    kaio::kernel<"repack_w4_bytes", block_size{w4_tile_threads}>([](thread t, val<w4_bytes_source> source) {
      const auto w = source[&w4_bytes_source::w];
      const val tiles_n = t.let(w[&w4_packed::tiles_n]), tiles_k = t.let(w[&w4_packed::tiles_k]);
      const val n = t.let(w[&w4_packed::n]), k = t.let(w[&w4_packed::k]);
      const val tiles = t.let(tiles_n * tiles_k);
      const val block = t.let(block_idx_x());
      const val bytes = t.let(source[&w4_bytes_source::bits] == 8u);
      if (auto codes = t.when(block < tiles)) {
        const w4_word word = find_word(t, block, tiles_k);
        const auto from = pointer_at<in<u8>>(t, t.let(source[&w4_bytes_source::codes]));
        const val rows = t.let(w[&w4_packed::rows]);
        const val neighbours = t.let(w[&w4_packed::neighbours] != 0u);
        var first(t, 0u), second(t, 0u);
        for (u32 i = 0; i < 8; ++i) {
          const val own_n = t.let(word.n + w4_word::further_n(i));
          const val own_k = t.let(word.k + w4_word::further_k(i));
          // Codes beyond K stay 0: for e4m3 and e2m1 the number 0, for others any number, as x is 0 there.
          if (auto exists = t.when(all_of(own_n < n, own_k < k))) {
            var row(t, own_k);
            if (auto act_order = t.when(rows != u64{0}))
              row = cast<u32>(pointer_at<inout<i32>>(t, rows)[own_k]);
            const val source_k = t.let(row);
            const val index = t.let(select(bytes, source_k, source_k >> 1));
            const quotient place = divide(t, index, source[&w4_bytes_source::block]);
            const val at =
                t.let(cast<i64>(place.whole) * source[&w4_bytes_source::codes_block] + cast<i64>(place.rest) +
                      cast<i64>(own_n) * source[&w4_bytes_source::codes_n]);
            const val byte = t.let(cast<u32>(from[at]));
            const val upper = t.let((source_k & 1u) ^ source[&w4_bytes_source::high_first]);
            const val flip = t.let(source[&w4_bytes_source::flip]);
            const val code = t.let(select(bytes, byte, byte >> (upper * 4u) & 15u) ^ flip);
            if (auto eight = t.when(bytes)) {
              if (i < 4)
                first |= code << (8 * (w4_word::byte(i) % 4));
              else
                second |= code << (8 * (w4_word::byte(i) % 4));
            }
            if (auto four = t.otherwise())
              first |= code << t.let(select(neighbours, 4 * i, 4 * w4_word::nibble(i)));
          }
        }
        const auto to = pointer_at<out<u32>>(t, t.let(w[&w4_packed::codes]));
        if (auto two = t.when(bytes)) {
          const val at = first_of_two_words(t, word);
          to[at] = first;
          to[at + u64{1}] = second;
        }
        if (auto one = t.otherwise()) to[word.at] = first;
      }
      const val of_group = t.let(block - tiles), lane = t.thread_rank();
      if (auto scales_and_zeros = t.when(all_of(block >= tiles, lane < 32u))) {
        const val group = t.let(of_group / tiles_n);
        const val column = t.let((of_group - group * tiles_n) * w4_tile_n + lane);
        const val exists = t.let(column < n);
        const val place = t.let(cast<u64>(of_group) * u64{w4_tile_n} + cast<u64>(lane));
        const val type = t.let(w[&w4_packed::scale_type]);
        const val scales = t.let(w[&w4_packed::scales]);
        if (auto single = t.when(type == static_cast<u32>(w4_scale_type::f32))) {
          var scale(t, 0.0f);
          if (auto has = t.when(exists)) scale = detail::scale_of_source(t, source, group, column);
          pointer_at<out<f32>>(t, scales)[place] = scale;
        }
        if (auto byte = t.otherwise()) {  // bytes as they are
          var scale(t, 0u);
          if (auto has = t.when(exists)) {
            const val at = t.let(cast<i64>(group) * source[&w4_bytes_source::scales_group] +
                                 cast<i64>(column) * source[&w4_bytes_source::scales_n]);
            scale = cast<u32>(pointer_at<in<u8>>(t, t.let(source[&w4_bytes_source::scales]))[at]);
          }
          pointer_at<out<u8>>(t, scales)[place] = cast<u8>(scale);
        }
        const val zeros = t.let(w[&w4_packed::zeros]);
        if (auto some = t.when(zeros != u64{0})) {
          var zero(t, 0u);
          if (auto has = t.when(exists)) {
            const quotient of_n = divide(t, column, source[&w4_bytes_source::zeros_block]);
            const val at =
                t.let(cast<i64>(group) * source[&w4_bytes_source::zeros_group] +
                      cast<i64>(of_n.whole) * source[&w4_bytes_source::zeros_n] + cast<i64>(of_n.rest));
            zero = cast<u32>(pointer_at<in<u8>>(t, t.let(source[&w4_bytes_source::zeros]))[at]) +
                   source[&w4_bytes_source::zeros_add];
          }
          pointer_at<out<u8>>(t, zeros)[place] = cast<u8>(zero & 0xffu);
        }
        const val factors = t.let(w[&w4_packed::factors]);
        if (auto some = t.when(all_of(factors != u64{0}, group == 0u))) {
          var factor(t, 0.0f);
          if (auto has = t.when(exists)) {
            const val at = t.let(cast<i64>(column) * source[&w4_bytes_source::factors_n]);
            factor = pointer_at<in<f32>>(t, t.let(source[&w4_bytes_source::factors]))[at];
            if (auto inverse = t.when(source[&w4_bytes_source::factors_divide] != 0u)) factor = 1.0f / factor;
          }
          pointer_at<out<f32>>(t, factors)[place] = factor;
        }
      }
    });

}  // namespace kaio::ops
