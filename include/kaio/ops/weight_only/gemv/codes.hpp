#pragma once
// Codes of a tile as operand A of a matrix instruction on bytes, for matmul_w4 and matmul_w8 with one row of
// x; and the scales and zero points of its columns. For half h of a tile and step j of K (layout.hpp) a lane
// has
//
//   four bits     word j                even n: w & 0x0f0f0f0f          odd n: w & 0xf0f0f0f0, 16 * the codes
//   eight bits    words 2 j, 2 j + 1    even n: bytes 0 and 2 of both   odd n: bytes 1 and 3
//
// Their bytes are k = 16 j + 2 c, 16 j + 2 c + 8, and the two after these (digits.hpp).

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/weight_only/common/decode_bytes.hpp>
#include <kaio/ops/weight_only/common/scales_and_zeros.hpp>

#include <cstdint>

namespace kaio::ops {

template <std::uint32_t Bits>
struct w4_one_row_codes;

template <>
struct w4_one_row_codes<4> {
  using dequantisation = w4_whole_groups<w4_integers>;
  using scales_and_zeros = w4_scales_and_zeros<dequantisation>;
  static constexpr fixed_string name = "w4";
  static constexpr f32 of_odd = 0.0625f;                                // factor of the sums of odd columns
  static constexpr i32 zero(u32 odd) { return odd != 0 ? 8 * 16 : 8; }  // if none are given

  // Loads the lane's codes of a tile, from its first word on.
  template <class Words>
  static constexpr auto load(thread, const Words& words, const val<u32>& at, u32 tile) {
    return array_of<2>([&](u32 h) { return load_vec<4>(words[at + (tile + h * 128)]); });
  }
  // Register r of steps j and j + 1: even columns if r is even, else odd ones.
  template <class Read>
  static constexpr val<u32> bytes(thread t, const Read& read, u32 h, u32 j, u32 r) {
    return t.let(read[h][j + r / 2] & (r % 2 == 0 ? 0x0f0f0f0fu : 0xf0f0f0f0u));
  }

  // The words of columns 2 pair and 2 pair + 1 of a tile, from the first word of scales or zero points on.
  static constexpr auto scale_at(const val<u32>& pair) { return pair + 0u; }
  static constexpr auto zero_at(const val<u32>& pair) { return pair / 4u; }
  static constexpr auto zero_bit(const val<u32>& pair) { return pair % 4u * 8u; }
  template <class Word>
  static constexpr auto scales(thread t, const Word& word, const val<bool>& is_bf16) {
    return scales_and_zeros::scales_of(t, t.let(word + 0u), is_bf16);
  }
  static constexpr val<i32> zero_of(thread t, const val<u32>& both, u32 odd) {
    return t.let(bit_cast<i32>(both & (odd != 0 ? 0xf0u : 15u)));
  }
};

template <>
struct w4_one_row_codes<8> {
  using dequantisation = w4_whole_groups<w8_integers>;
  using scales_and_zeros = w4_scales_and_zeros<dequantisation>;
  static constexpr fixed_string name = "w8";
  static constexpr f32 of_odd = 1.0f;
  static constexpr i32 zero(u32) { return 128; }

  template <class Words>
  static constexpr auto load(thread, const Words& words, const val<u32>& at, u32 tile) {
    return array_of<4>([&](u32 quad) { return load_vec<4>(words[at + (tile + quad * 128)]); });
  }
  template <class Read>
  static constexpr val<u32> bytes(thread t, const Read& read, u32 h, u32 j, u32 r) {
    const auto& quad = read[h * 2 + j / 2];
    const val first = t.let(quad[r / 2 * 2] + 0u), second = t.let(quad[r / 2 * 2 + 1] + 0u);
    return byte_perm(first, second, r % 2 == 0 ? 0x6240u : 0x7351u);
  }

  static constexpr auto scale_at(const val<u32>& pair) { return pair * 2u; }
  static constexpr auto zero_at(const val<u32>& pair) { return pair / 2u; }
  static constexpr auto zero_bit(const val<u32>& pair) { return pair % 2u * 16u; }
  template <class Word>
  static constexpr auto scales(thread t, const Word& word, const val<bool>&) {
    const val both = load_vec<2>(word);
    const val even = t.let(bit_cast<f32>(both[0])), odd = t.let(bit_cast<f32>(both[1]));
    return scales_and_zeros::two<val<f32>, val<f32>>{even, odd};
  }
  static constexpr val<i32> zero_of(thread t, const val<u32>& both, u32 odd) {
    return t.let(bit_cast<i32>((odd != 0 ? t.let(both >> 8) : both) & 0xffu));
  }
};

}  // namespace kaio::ops
