#pragma once
// Q in registers, straight from memory, and matching K. The order of the sum over a row's elements is free,
// so a lane takes neighbours: 32 of each 128 bytes of a row. Every 8 of these bytes are its operands of a
// slice of 16 elements.
//
//   bytes of a row          0..31   32..63  64..95  96..127
//   lane of a quad          0       1       2       3           slice 4 p + s: bytes 8 s to 8 s + 7 of them
//
// Loads of 16 bytes thus read a row of Q, and eight keys without bank conflicts.

#include <kaio/dsl/dsl.hpp>
#include <kaio/dsl/mma.hpp>
#include <kaio/dsl/tile.hpp>
#include <kaio/ops/attention/decode/common/row_scores.hpp>

#include <cstdint>

namespace kaio::ops {

// Loads a row of a tile, 16 bytes at a time; load i begins element_of(i) after `first`. `rows` rows exist, at
// least one. If row `row` does not exist, the last row is loaded. Beyond the end of a row, its beginning is
// loaded. The loads thus depend on no condition.
template <std::uint32_t Loads, class ElementOf>
constexpr dsl::register_array<val<u32x4>, Loads> load_query_row(thread t,
                                                                const val<attention_problem>& problem,
                                                                const val<attention_split>& split,
                                                                const decode_rows& block, const val<u32>& row,
                                                                const val<u32>& rows, const val<u32>& first,
                                                                const ElementOf& element_of) {
  constexpr u64 bytes = 2;  // per element
  const decode_row at = find_row(t, split, block, t.let(block.first_row + min(row, rows - 1u)));
  const val size = t.let(problem[&attention_problem::qk_size]);
  const val from = t.let(problem[&attention_problem::q][&attention_strides::address] +
                         cast<u64>(offset_of_queries(t, problem, block, at)) * bytes);
  return array_of<Loads>([&](u32 i) {
    const val inside = t.let(first + element_of(i) < size);
    return load(pointer_at<in<u32x4>>(
        t, t.let(from + cast<u64>(select(inside, first + element_of(i), 0u)) * bytes))[0]);
  });
}

template <class Product, std::uint32_t Depth>
struct attention_decode_operands {
  using pair = typename Product::pair;
  using a_fragment = typename Product::a_fragment;
  using b_fragment = typename Product::b_fragment;
  static constexpr std::uint32_t slices = Depth / 16, eights = Depth / 32;  // eights: loads per lane and row

  // The element of a row at which load i of a lane begins, after the lane's first one.
  static constexpr std::uint32_t element_of(std::uint32_t i) { return i / 2 * 64 + i % 2 * 8; }
  static constexpr val<u32> first_element(thread t) { return t.let(t.lane_rank() % 4u * 16u); }

  // What a lane reads of a row of Q: pairs of elements.
  using loaded_row = dsl::register_array<val<u32x4>, eights>;
  // The words of a row that is loaded later.
  using row_words = dsl::register_array<var<u32>, 4 * eights>;
  static constexpr row_words no_row(thread t) {
    return array_of<4 * eights>([&](u32) { return var(t, 0u); });
  }
  static constexpr void keep_row(row_words& to, const loaded_row& from) {
    for (std::uint32_t i = 0; i < 4 * eights; ++i) to[i] = from[i / 4][i % 4];
  }

  static constexpr loaded_row load_row(thread t, const val<attention_problem>& problem,
                                       const val<attention_split>& split, const decode_rows& block,
                                       const val<u32>& row, const val<u32>& rows) {
    return load_query_row<eights>(t, problem, split, block, row, rows, first_element(t), element_of);
  }
  // Converts a loaded row to half R of the operands: row l / 4 + 8 R of lane l. What does not exist becomes
  // zero.
  template <std::uint32_t R>
  static constexpr void take_row(thread t, dsl::register_array<a_fragment, slices>& q,
                                 const val<attention_problem>& problem, const row_words& loaded,
                                 const val<bool>& exists) {
    const val first = first_element(t), size = t.let(problem[&attention_problem::qk_size]);
    for (std::uint32_t i = 0; i < eights; ++i) {
      const val inside = t.let(all_of(exists, first + element_of(i) < size));
      for (std::uint32_t e = 0; e < 4; ++e)
        q[2 * i + e / 2].registers[e % 2 * 2 + R] =
            bit_cast<pair>(t.let(select(inside, loaded[4 * i + e], 0u)));
    }
  }
  // Loads eight keys of a tile from `key` on, for all slices.
  template <class Tile, class Lane>
  static constexpr dsl::register_array<b_fragment, slices> load_keys(thread t, const Tile& tile,
                                                                     const Lane& lanes, std::uint32_t key) {
    auto k = array_of<slices>([&](u32) { return b_fragment(t); });
    for (std::uint32_t i = 0; i < eights; ++i) {
      const val eight = load_vec<8>(tile.at(lanes[i % 2].further(key, i / 2 * 64)));
      for (std::uint32_t e = 0; e < 4; ++e)
        k[2 * i + e / 2].registers[e % 2] = pack(eight[2 * e], eight[2 * e + 1]);
    }
    return k;
  }
  // Where a lane's loads of keys begin: the first and the second of each 128 bytes.
  template <class Tile>
  static constexpr auto lanes_of(thread t, const Tile& tile) {
    const val row = t.let(t.lane_rank() / 4u), first = first_element(t);
    return array_of<2>([&](u32 h) { return tile.lane(row, t.let(first + 8 * h), 64); });
  }
};

}  // namespace kaio::ops
