#pragma once
// The products of f16 with 8-bit codes, and the scales between them.
//
// K's scale multiplies the scores of its key. V's scale multiplies the probabilities. Scaled probabilities
// are relative to the largest one of their row so far, instead of the largest score. Rounded to f16, none of
// them overflows or is lost.

#include <kaio/dsl/dsl.hpp>
#include <kaio/dsl/mma.hpp>
#include <kaio/dsl/warp.hpp>
#include <kaio/ops/attention/decode/mma_sync_8bit/convert.hpp>

#include <cstdint>

namespace kaio::ops {

// Multiplies a thread's scores in stage `stage` by their row's factor and their key's scale. `key`: the
// thread's first key of the tile.
template <class Scores, class Parts, class Scales, class Key, class Factors>
constexpr void scale_scores(thread t, const Scores& scores, Parts& s_parts, const Scales& scales,
                            const val<u32>& stage, const Key& key, const Factors& of_row) {
  for (std::uint32_t i = 0; i < scores.size(); ++i) scores[i] *= of_row[scores.row(i)];
  if (auto own = t.when(scales.k_by_key))
    for (std::uint32_t j = 0; j < s_parts.size(); ++j) {
      const auto pair = scales.pair(stage, 0, t.let(key + 8 * j));
      for (std::uint32_t e = 0; e < 4; ++e) s_parts[j].registers[e] *= pair[e % 2];
    }
}

// Divides the weights of a row by a power of two near the largest weight so far, which becomes `unit`.
// `correction` then also rescales earlier sums to it.
template <class Scores>
constexpr void take_largest_weight(thread t, const Scores& s, u32 r, var<f32>& correction, var<f32>& unit) {
  const val before = t.let(unit * correction);
  var largest(t, before);
  for (std::uint32_t i = 0; i < s.size(); ++i)
    if (s.row(i) == r) largest = max(largest, abs(s[i]));
  for (std::uint32_t lanes = 1; lanes < 4; lanes *= 2) largest = max(largest, shfl_xor(largest, lanes));
  constexpr u32 exponents = 0x7f800000u, most = 0x7e800000u;  // 2^126
  const val power = t.let(min(bit_cast<u32>(largest) & exponents, most));
  const val inverse = t.let(bit_cast<f32>(0x7f000000u - power));
  correction = before * inverse;
  unit = bit_cast<f32>(power);
  for (std::uint32_t i = 0; i < s.size(); ++i)
    if (s.row(i) == r) s[i] *= inverse;
}

// Converts scores to the weights of V, in units of `of_values`. Returns the correction factors for earlier
// sums of both rows.
template <class Softmax, class Scores, class Parts, class Scales, class Key, class Units>
constexpr auto probabilities_of_codes(thread t, Softmax& softmax, const Scores& scores, Parts& s_parts,
                                      const Scales& scales, const val<u32>& stage, const Key& key,
                                      const val<f32>& factor, Units& of_values) {
  const auto of_before = softmax.step(scores, factor);
  auto correction = array_of<2>([&](u32 r) { return var(t, of_before[r]); });
  if (auto own = t.when(scales.v_by_key)) {
    for (std::uint32_t j = 0; j < s_parts.size(); ++j) {
      const auto pair = scales.pair(stage, 1, t.let(key + 8 * j));
      for (std::uint32_t e = 0; e < 4; ++e) {
        auto& p = s_parts[j].registers[e];  // a masked key has none, whatever its scale is
        p = select(p == 0.0f, 0.0f, p * pair[e % 2]);
      }
    }
    for (u32 r = 0; r < 2; ++r) take_largest_weight(t, scores, r, correction[r], of_values[r]);
  }
  return correction;
}

// O += P V for the warp's keys, in codes of T. Columns 2 n of 16 are one operand, columns 2 n + 1 another.
template <class T, std::uint16_t Sm, class Product, class Sums, class Scores, class Tile, class Lane>
constexpr void multiply_code_values(thread t, Sums& o_parts, Scores& s_parts, const Tile& own_v,
                                    const Lane& at) {
  for (std::uint32_t c = 0; c < Tile::rows / Product::k; ++c) {
    typename Product::a_fragment p(t);  // 16 x k of P
    Product::take_probabilities(p, s_parts, c);
    for (std::uint32_t g = 0; g < o_parts.size() / 2; g += 2) {
      const auto words = ldmatrix_x4_trans(own_v.at(at, Product::k * c, 8 * g));
      for (u32 n = 0; n < 2; ++n) {
        typename Product::b_fragment even(t), odd(t);
        for (u32 r = 0; r < 2; ++r)
          convert_codes<T, Sm, code_order::alternate>(t, words[2 * n + r], even.registers[r],
                                                      odd.registers[r]);
        Product::multiply_add(o_parts[2 * (g + n)], p, even);
        Product::multiply_add(o_parts[2 * (g + n) + 1], p, odd);
      }
    }
  }
}

}  // namespace kaio::ops
