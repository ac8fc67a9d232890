#pragma once
// Floats of four bits, e2m1.
//
// MXFP4 has a scale of e8m0 for each 32 codes, which multiplies sums: its numbers are looked up in a table.
//
// NVFP4 has a scale of e4m3 for each 16. The product of that and a number has six bits, and is exact as f16 or bf16: it
// is made before the matrix instruction, which saves the sums of groups of 16. The bits of a code go to the sign, the
// lowest bits of the exponent and the top one of the mantissa of a number of 16 bits, which is the code's by a power of
// two, subnormal ones too; the power is part of the product for bf16, but for what of it would not fit, which is with
// the sums:
//
//   f16     s 000ee m 000000000     by 2^14: 19 instructions for the eight codes of a word
//   bf16    s 000000ee m 000000     by 2^126

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/weight_only/common/codes.hpp>
#include <kaio/ops/weight_only/common/decode.hpp>
#include <kaio/ops/weight_only/common/decode_table.hpp>

#include <cstdint>

namespace kaio::ops {

namespace detail {

// Register i: the bits of the numbers of a word's codes i and i + 4.
template <scalar T>
constexpr auto e2m1_pair(thread t, const val<u32>& word, u32 i) {
  constexpr u32 mantissa = w4_pair<T>::is_half ? 9 : 6, bits = 0x00070007u << mantissa;
  const u32 up = 12 - 4 * i;  // from bit 4 i + 3 to 15
  const val signs = t.let(up == 0 ? t.let(word & 0x80008000u) : t.let(word << up & 0x80008000u));
  const val rest = t.let(4 * i <= mantissa ? t.let(word << (mantissa - 4 * i) & bits)
                                           : t.let(word >> (4 * i - mantissa) & bits));
  return t.let(bit_cast<typename w4_pair<T>::type>(signs | rest));
}

}  // namespace detail

struct w4_mxfp4 : w4_table<w4_mxfp4> {
  static constexpr fixed_string name = "mxfp4_";
  static constexpr w4_scales_in_kernel scales = w4_scales_in_kernel::e8m0;
  static constexpr std::uint32_t slots = 2;
  static constexpr auto& numbers = e2m1_numbers;
};

struct w4_nvfp4 : w4_dequantisation {
  static constexpr fixed_string name = "nvfp4_";
  static constexpr w4_scales_in_kernel scales = w4_scales_in_kernel::e4m3;
  static constexpr std::uint32_t slots = 4;
  static constexpr bool scaled = true;

  template <scalar T>
  struct decoder {
    using pair = typename w4_pair<T>::type;
    static constexpr f32 of_scales = w4_pair<T>::is_half ? 1.0f : 0x1p100f;
    static constexpr f32 unit = w4_pair<T>::is_half ? 0x1p14f : 0x1p26f;
    constexpr decoder(thread, const val<w4_problem>&) {}

    static constexpr auto of_scale(thread t, const val<f32>& scale) {
      const val moved = t.let(scale * of_scales);
      return t.let(bit_cast<u32>(pack<pair>(moved, moved)));
    }
    template <class Words, class Scale, class Registers>
    constexpr void decode(thread t, const Words& words, const Scale& scale, Registers& registers) const {
      for (u32 i = 0; i < 4; ++i) {
        const val number = detail::e2m1_pair<T>(t, words[0], i);
        registers[i] = number * bit_cast<pair>(scale[i % 2]);
      }
    }
  };
};

}  // namespace kaio::ops
