#pragma once
// Decodes floats of four bits, e2m1.
//
// MXFP4 has a scale of e8m0 per 32 codes, which multiplies sums. Its numbers are looked up in a table.
//
// NVFP4 has a scale of e4m3 per 16 codes. The product of scale and number has six bits and is exact in f16
// and bf16. It is formed before the matrix instruction, which avoids separate sums for groups of 16. The bits
// of a code become the sign, the lowest exponent bits and the top mantissa bit of a 16-bit number. This
// number differs from the code's by a power of two, for subnormal numbers too. For f16 the power multiplies
// the sums. For bf16 it goes into the product, except for a split that bf16 cannot hold, which multiplies the
// sums:
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

// Register i: the 16-bit numbers of codes i and i + 4 of a word.
template <scalar T>
constexpr auto e2m1_pair(thread t, const val<u32>& word, u32 i) {
  constexpr u32 mantissa = w4_pair<T>::is_half ? 9 : 6, bits = 0x00070007u << mantissa;
  const u32 up = 12 - 4 * i;  // moves bit 4 i + 3 to bit 15
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
