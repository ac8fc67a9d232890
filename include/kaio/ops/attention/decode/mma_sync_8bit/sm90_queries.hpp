#pragma once
// Q in registers as f16, straight from memory, and matching keys of 8-bit codes (for 16 bits:
// mma_sync_sm90/queries.hpp). A lane has a quarter of a row, all neighbours. Every four of them are its
// operands of a slice of 16 elements:
//
//   codes of a row          0..31   32..63  64..95  96..127     D = 128
//   lane of a quad          0       1       2       3           slice s: codes 4 s to 4 s + 3 of them
//
// Loads of 16 bytes thus read a row of Q, and eight keys without bank conflicts. A row of bf16 is multiplied
// by a power of two (queries.hpp says why).

#include <kaio/dsl/dsl.hpp>
#include <kaio/dsl/mma.hpp>
#include <kaio/dsl/warp.hpp>
#include <kaio/ops/attention/decode/common/row_scores.hpp>
#include <kaio/ops/attention/decode/mma_sync_8bit/convert.hpp>
#include <kaio/ops/attention/decode/mma_sync_8bit/queries.hpp>
#include <kaio/ops/attention/decode/mma_sync_sm90/queries.hpp>

#include <cstdint>

namespace kaio::ops {

template <class Product, std::uint32_t Depth, std::uint16_t Sm>
struct attention_decode_code_operands {
  using a_fragment = typename Product::a_fragment;
  using b_fragment = typename Product::b_fragment;
  static constexpr std::uint32_t slices = Depth / 16, own = Depth / 4;  // own: elements per lane
  static constexpr std::uint32_t eights = own / 8, words = own / 2;  // loads of Q, and words that they give

  static constexpr val<u32> first_element(thread t) { return t.let(t.lane_rank() % 4u * own); }

  // What a lane reads of a row of Q, in pairs of elements. row_words is a row that is loaded later.
  using loaded_row = dsl::register_array<val<u32x4>, eights>;
  using row_words = dsl::register_array<var<u32>, words>;
  static constexpr row_words no_row(thread t) {
    return array_of<words>([&](u32) { return var(t, 0u); });
  }
  static constexpr void keep_row(row_words& to, const loaded_row& from) {
    for (std::uint32_t i = 0; i < words; ++i) to[i] = from[i / 4][i % 4];
  }

  static constexpr loaded_row load_row(thread t, const val<attention_problem>& problem,
                                       const val<attention_split>& split, const decode_rows& block,
                                       const val<u32>& row, const val<u32>& rows) {
    return load_query_row<eights>(t, problem, split, block, row, rows, first_element(t),
                                  [](std::uint32_t i) { return 8 * i; });
  }

  // Converts a loaded row to half R of the operands: row l / 4 + 8 R of lane l. What does not exist becomes
  // zero. Returns the factor for the scores of the row.
  template <std::uint32_t R>
  static constexpr val<f32> take_row(thread t, dsl::register_array<a_fragment, slices>& q,
                                     const val<attention_problem>& problem, const val<bool>& is_bf16,
                                     const row_words& loaded, const val<bool>& exists) {
    const val first = first_element(t), size = t.let(problem[&attention_problem::qk_size]);
    auto word = array_of<words>(
        [&](u32 i) { return var(t, select(all_of(exists, first + (i / 4 * 8) < size), loaded[i], 0u)); });
    var factor(t, 1.0f);
    if (auto scaled = t.when(is_bf16)) {
      const auto low = [&](u32 i) { return bit_cast<f32>(word[i] << 16); };
      const auto high = [&](u32 i) { return bit_cast<f32>(word[i] & 0xffff0000u); };
      var largest(t, 0.0f);
      for (u32 i = 0; i < words; ++i) {
        largest = max(largest, finite_or_zero(t.let(abs(low(i)))));
        largest = max(largest, finite_or_zero(t.let(abs(high(i)))));
      }
      for (std::uint32_t lanes = 1; lanes < 4; lanes *= 2) largest = max(largest, shfl_xor(largest, lanes));
      const query_scaling by = scaling_of_queries(t, t.let(largest));
      factor = by.back;
      for (u32 i = 0; i < words; ++i) {
        const val scaled_low = t.let(low(i) * by.up), scaled_high = t.let(high(i) * by.up);
        word[i] = bit_cast<u32>(pack<f16x2>(scaled_low, scaled_high));
      }
    }
    for (u32 i = 0; i < words; ++i) q[i / 2].registers[i % 2 * 2 + R] = bit_cast<f16x2>(word[i]);
    return t.let(factor);
  }

  // Loads eight keys of a tile from `key` on, for all slices, in codes of T.
  template <class T, class Tile, class Lanes>
  static constexpr dsl::register_array<b_fragment, slices> load_keys(thread t, const Tile& tile,
                                                                     const Lanes& lanes, std::uint32_t key) {
    auto k = array_of<slices>([&](u32) { return b_fragment(t); });
    for (std::uint32_t i = 0; i < slices / 4; ++i) {
      const val eight = load_vec<8>(tile.at(lanes[i].further(key, 0)));
      for (std::uint32_t e = 0; e < 4; ++e) {
        auto& to = k[4 * i + e].registers;
        convert_codes<T, Sm, code_order::neighbours>(
            t, t.let(bit_cast<u32>(pack(eight[2 * e], eight[2 * e + 1]))), to[0], to[1]);
      }
    }
    return k;
  }
  // Where a lane's loads of keys begin.
  template <class Tile>
  static constexpr auto lanes_of(thread t, const Tile& tile) {
    const val row = t.let(t.lane_rank() / 4u), first = t.let(t.lane_rank() % 4u * (own / 2));
    return array_of<slices / 4>([&](u32 i) { return tile.lane(row, t.let(first + 8 * i), Tile::columns); });
  }
};

}  // namespace kaio::ops
