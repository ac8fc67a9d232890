#pragma once
// Repacks a file's blocks into the packed weights of matmul_w4 and matmul_w8 (common/layout.hpp). Values do
// not change; scales and minima are multiplied out. One kernel serves all formats: block_layout.hpp describes
// them in numbers.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/weight_only/common/codes.hpp>
#include <kaio/ops/weight_only/common/place.hpp>
#include <kaio/ops/weight_only/formats/block_values.hpp>

#include <cstdint>

namespace kaio::ops {

struct blocks_source {
  w4_packed w;
  block_layout layout;
  u64 bytes;
  u32 elements_log2;  // elements per block
  u32 row_blocks;     // blocks per row
  u32 add;            // added to each code of matmul_w8
};

namespace detail {

// Address of the block with element k of row n.
template <class Source>
constexpr val<u64> block_of(thread t, const Source& source, const val<u32>& n, const val<u32>& k) {
  const val which = t.let(cast<u64>(n) * cast<u64>(source[&blocks_source::row_blocks]) +
                          cast<u64>(k >> source[&blocks_source::elements_log2]));
  const auto layout = source[&blocks_source::layout];
  return t.let(source[&blocks_source::bytes] + which * cast<u64>(layout[&block_layout::bytes]));
}

// The code of element e of a block, before the table.
template <class Layout>
constexpr val<u32> block_code(thread t, const Layout& layout, const val<u64>& block, const val<u32>& e) {
  const auto number = [&](auto member) { return t.let(layout[member]); };
  const val j = t.let(e >> 3), i = t.let(e & 7u), one = t.let(1u);
  const val plane_at = number(&block_layout::plane_at), plane_bits = number(&block_layout::plane_bits);
  const val bits = number(&block_layout::bits);
  const val below = t.let(j & ((one << plane_at) - 1u));
  const val plane = t.let(j >> plane_at & ((one << plane_bits) - 1u));
  const val eighth = t.let(below | j >> (plane_at + plane_bits) << plane_at);
  const val byte = byte_at(t, t.let(block + cast<u64>(number(&block_layout::codes_at) + eighth * 8u + i)));
  var code(t, byte >> (plane * bits) & ((one << bits) - 1u));
  const val kind = number(&block_layout::high), high_at = number(&block_layout::high_at);
  if (auto has_bytes = t.when(kind == u32{high_codes::bytes})) {
    const val width = number(&block_layout::high_bits), planes = number(&block_layout::high_plane_bits);
    const val of_plane = t.let(j >> 2 & ((one << planes) - 1u));
    const val which = t.let((j & 3u) | j >> (planes + 2u) << 2);
    const val further = byte_at(t, t.let(block + cast<u64>(high_at + which * 8u + i)));
    code |= (further >> (of_plane * width) & ((one << width) - 1u)) << number(&block_layout::high_to);
  }
  if (auto has_bits = t.when(kind == u32{high_codes::bits})) {
    const val eight = byte_at(t, t.let(block + cast<u64>(high_at + j)));
    code |= (eight >> i & 1u) << 4;
  }
  return t.let(select(bits == 8u, code ^ 0x80u, code));
}

}  // namespace detail

// Launched with one block per tile of codes, then one per (group, 32 columns) for scales and offsets. In the
// latter, 32 threads work.
inline constexpr auto repack_blocks =
    kaio::kernel<"repack_blocks", block_size{w4_tile_threads}, kernel_options{.contract = false}>(
        [](thread t, val<blocks_source> source) {
          const auto w = source[&blocks_source::w];
          const auto layout = source[&blocks_source::layout];
          const val tiles_n = t.let(w[&w4_packed::tiles_n]), tiles_k = t.let(w[&w4_packed::tiles_k]);
          const val tiles = t.let(tiles_n * tiles_k);
          const val in_block = t.let((t.let(1u) << source[&blocks_source::elements_log2]) - 1u);
          const val eight = t.let(w[&w4_packed::codes_type] >= static_cast<u32>(w4_codes::int8));
          const val block = t.let(block_idx_x());
          if (auto codes = t.when(block < tiles)) {
            const w4_word word = find_word(t, block, tiles_k);
            store_codes(t, word, w, eight, [&](const val<u32>& n, const val<u32>& k) {
              const val from = detail::block_of(t, source, n, k);
              var code(t, detail::block_code(t, layout, from, t.let(k & in_block)));
              if (auto number = t.when(eight)) {
                if (auto table = t.when(layout[&block_layout::has_table] != 0u))
                  code = detail::looked_up(t, layout, t.let(code)) & 0xffu;
                code += source[&blocks_source::add];
              }
              return t.let(code);
            });
          }
          const val of_group = t.let(block - tiles), lane = t.thread_rank();
          if (auto scales_and_zeros = t.when(all_of(block >= tiles, lane < 32u))) {
            const val group = t.let(of_group / tiles_n);
            const val column = t.let((of_group - group * tiles_n) * w4_tile_n + lane);
            const val place = t.let(cast<u64>(of_group) * u64{w4_tile_n} + cast<u64>(lane));
            const val k = t.let(group * w[&w4_packed::group][&divisor::value]);
            const val from = detail::block_of(t, source, t.let(min(column, t.let(w[&w4_packed::n]) - 1u)), k);
            const val j = t.let((k & in_block) >> 3);
            const val exists = t.let(column < w[&w4_packed::n]);
            const val type = t.let(w[&w4_packed::scale_type]);
            const val scales = t.let(w[&w4_packed::scales]);
            const auto is = [&](w4_scale_type one) { return type == static_cast<u32>(one); };
            if (auto wide = t.when(is(w4_scale_type::f32))) {
              const scale_and_offset by = load_scales(t, layout, from, j);
              const val scale = t.let(select(exists, by.scale, 0.0f));
              pointer_at<out<f32>>(t, scales)[place] = scale;
              if (auto both = t.when(w[&w4_packed::offsets] != 0u)) {
                const val offsets = t.let(w[&w4_packed::zeros]);
                const val offset = t.let(select(exists, -by.offset, 0.0f));
                pointer_at<out<f32>>(t, offsets)[place] = offset;
              }
            }
            if (auto half = t.when(is(w4_scale_type::f16))) {
              const val at = t.let(from + cast<u64>(layout[&block_layout::d_at]));
              const val bits = t.let(cast<u32>(pointer_at<in<u16>>(t, at)[0]));
              const val scale = t.let(cast<u16>(select(exists, bits, 0u)));
              pointer_at<out<u16>>(t, scales)[place] = scale;
            }
            if (auto byte = t.when(any_of(is(w4_scale_type::e8m0), is(w4_scale_type::e4m3)))) {
              const val little = t.let(is(w4_scale_type::e4m3));
              const val bits = detail::byte_at(t, t.let(from + cast<u64>(select(little, j >> 1, 0u))));
              // In these blocks 0x7f, e4m3's NaN, means 0.
              const val none = t.let(any_of(!exists, all_of(little, bits == 0x7fu)));
              const val scale = t.let(cast<u8>(select(none, 0u, bits)));
              pointer_at<out<u8>>(t, scales)[place] = scale;
            }
          }
        });

}  // namespace kaio::ops
