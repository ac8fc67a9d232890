#pragma once
// Decoders of codes of eight bits (matmul_w8): integers, and floats of e4m3.
//
// Integers and their zero points are stored as u = code + 128 and z = zero point + 128:
//
//   f16     1024 + u - (1024 + z)
//   bf16    2^127 (2^-133 u) - 2^-6 z       the bits of u alone, subnormal or not, are 2^-133 u
//
// 2^6 multiplies the sums of bf16. Both take 8 instructions for eight codes. Differences have at most eight bits, so
// they are exact.
//
// The bits of e4m3 move into the exponent and mantissa of f16 or bf16, which leaves out a power of two. For
// f16 (14 instructions) 2^8 multiplies the sums. For bf16 (18 instructions) 2^120 multiplies each number. All
// of it is exact, except that the NaN of e4m3 becomes 480.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/weight_only/common/decode.hpp>

#include <cstdint>

namespace kaio::ops {

struct w8_dequantisation : w4_dequantisation {
  static constexpr std::uint32_t bits = 8;
  static constexpr w4_scales_in_kernel scales = w4_scales_in_kernel::f32;
};

struct w8_integers : w8_dequantisation {
  static constexpr bool zero_points = true;

  template <scalar T>
  struct decoder {
    static constexpr bool is_half = w4_pair<T>::is_half;
    using pair = typename w4_pair<T>::type;
    static constexpr f32 unit = is_half ? 1.0f : 0x1p6f;
    constexpr decoder(thread, const val<w4_problem>&) {}

    static constexpr u32 initial(u32) { return is_half ? 0xe480e480u : 0xc000c000u; }
    static constexpr auto of_zero(thread t, const val<u32>& z, u32) {
      if constexpr (is_half) {
        return t.let(z * 0x00010001u + 0xe400e400u);
      } else {
        const val both = t.let(bit_cast<bf16x2>(byte_perm(z, 0u, 0x4040u)));
        return t.let(bit_cast<u32>(both * -0x1p127));
      }
    }
    // minus of the zero points of columns 2 g and 2 g + 1, whose bytes of `word` which_zeros(g) selects.
    static constexpr auto which_zeros(thread, const val<u32>& g) { return g % 2u * 0x0202u + 0x4040u; }
    static constexpr auto of_zeros(thread t, const val<u32>& word, const val<u32>& which) {
      return array_of<2>([&](u32 odd) {
        const val both = t.let(byte_perm(word, is_half ? 0xe4e4e4e4u : 0u, which + odd * 0x0101u));
        if constexpr (is_half)
          return both;
        else
          return t.let(bit_cast<u32>(bit_cast<bf16x2>(both) * -0x1p127));
      });
    }
    // Register i has bytes 0 and 2 (even i) or 1 and 3 (odd i) of word i / 2.
    template <class Words, class Minus, class Registers>
    constexpr void decode(thread t, const Words& words, const Minus& minus, Registers& registers) const {
      for (u32 i = 0; i < 4; ++i) {
        const val bits =
            t.let(byte_perm(words[i / 2], is_half ? 0x64646464u : 0u, i % 2 == 0 ? 0x4240u : 0x4341u));
        const auto zero = bit_cast<pair>(minus[i % 2]);
        if constexpr (is_half)
          registers[i] = bit_cast<pair>(bits) + zero;
        else
          registers[i] = fma(bit_cast<pair>(bits), 0x1p127, zero);
      }
    }
  };
};

// W = scale * q + offset, as in GGUF's Q5_1 and Q5_K.
struct w8_integers_and_offsets : w8_dequantisation {
  static constexpr fixed_string name = "offsets_";
  static constexpr bool offsets = true;
  static constexpr std::uint32_t slots = 2;

  template <scalar T>
  using decoder = w8_integers::decoder<T>;
};

struct w8_e4m3 : w8_dequantisation {
  static constexpr fixed_string name = "e4m3_";
  static constexpr std::uint32_t slots = 1;

  template <scalar T>
  struct decoder {
    static constexpr bool is_half = w4_pair<T>::is_half;
    using pair = typename w4_pair<T>::type;
    static constexpr f32 unit = is_half ? 0x1p8f : 1.0f;
    constexpr decoder(thread, const val<w4_problem>&) {}

    template <class Words, class Minus, class Registers>
    constexpr void decode(thread t, const Words& words, const Minus&, Registers& registers) const {
      constexpr u32 mantissa = is_half ? 7 : 4, bits = 0x007f007fu << mantissa;
      for (u32 i = 0; i < 4; ++i) {
        const auto& word = words[i / 2];
        const val signs = t.let(i % 2 == 0 ? t.let(word << 8 & 0x80008000u) : t.let(word & 0x80008000u));
        const val rest =
            t.let(i % 2 == 0 ? t.let(word << mantissa & bits) : t.let(word >> (8 - mantissa) & bits));
        if constexpr (is_half)
          registers[i] = bit_cast<pair>(signs | rest);
        else
          registers[i] = bit_cast<pair>(signs | rest) * 0x1p120;
      }
    }
  };
};

}  // namespace kaio::ops
