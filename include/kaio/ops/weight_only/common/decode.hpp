#pragma once
// Dequantisations turn codes into the register operands of a matrix instruction. This file has their
// interface, their defaults, and the dequantisations of four-bit integers.
//
// A dequantisation is a class, a template argument of the kernels of matmul_w4. A program writes ops::scalar,
// ops::w4_problem, and ops::w4_pair<T>::type for the pairs:
//
//   struct halves_and_ones : w4_dequantisation {                 // its defaults are below
//     static constexpr fixed_string name = "halves_and_ones";    // split of the names of the kernels
//     template <scalar T>                                        // f16, bf16: the type of x
//     struct decoder {
//       static constexpr f32 unit = 1.0f;                        // y is multiplied by it, once
//       constexpr decoder(thread t, const val<w4_problem>& problem);    // what all words need
//       // Decodes the codes of words[0] (layout.hpp): register i = 0 .. 3 of A is the pair of codes i, i + 4
//       // (with `neighbours`: 2 i, 2 i + 1). minus[i % 2]: see of_zero and of_scale.
//       template <class Words, class Minus>
//       constexpr void decode(thread t, const Words& words, const Minus& minus, auto& registers) const;
//       // With `zero_points`: minus[odd] without zero points, and for zero point z; odd: of odd registers.
//       static constexpr u32 initial(u32 odd);
//       static constexpr auto of_zero(thread t, const val<u32>& z, u32 odd);
//       // With `scaled`: decode multiplies by the scale, and minus[odd] is of_scale of it.
//       static constexpr auto of_scale(thread t, const val<f32>& scale);
//     };
//   };
//
// Integers are decoded exactly. The bits of a code become the lowest mantissa bits of a number whose last
// place is 1; then that number and the zero point are subtracted.
//
//   f16, even registers    1024 + q           - (1024 + z)
//        odd ones          (1024 + 16 q) / 16 - (64 + z)      by one fma, of the bits in place
//   bf16                   128 + q            - (128 + z)
//
// Source: Kim et al., "Who Says Elephants Can't Run: Bringing Large Scale MoE Models into Cloud Scale
// Production", 2022.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/weight_only/common/scales_and_zeros.hpp>

#include <bit>
#include <cstdint>
#include <type_traits>

namespace kaio::ops {

using dsl::scalar;

// The defaults: codes of four bits, scales of f16 or bf16 in groups of multiples of 16, no zero points.
struct w4_dequantisation {
  static constexpr std::uint32_t bits = 4;  // bits per code
  static constexpr w4_scales_in_kernel scales = w4_scales_in_kernel::f16_or_bf16;
  static constexpr bool zero_points = false;  // zero points are possible
  static constexpr bool offsets = false;      // each group and column adds an f32 to its weights
  static constexpr bool neighbours = false;   // both codes of a register are adjacent in a word (layout.hpp)
  static constexpr bool scaled = false;       // scales multiply numbers, not the sums of a group
  static constexpr bool rounded = false;      // and the products are rounded (decode_rounded.hpp)
  static constexpr bool by_table = false;     // register i depends on byte i of a word alone
  // Groups per tile of 64 k: 1 for multiples of 64, 2 for multiples of 32, 4 for 16. 0: any multiple of 16.
  static constexpr std::uint32_t slots = 0;
  static constexpr fixed_string name = "";
};

// D for groups that are multiples of 64, if D takes any groups.
template <class D>
struct w4_whole_groups : D {
  static constexpr std::uint32_t slots = D::slots == 0 ? 1 : D::slots;
};

// a & b | c as one instruction; ptxas makes two if b and c are constants.
inline constexpr std::uint32_t and_or = 0xea;

template <scalar T>
struct w4_pair {
  static constexpr bool is_half = std::is_same_v<T, f16>;
  static_assert(is_half || std::is_same_v<T, bf16>);
  using type = std::conditional_t<is_half, f16x2, bf16x2>;
};

// The number that sums x for the offsets, twice: `unit` of the decoder makes it 1.
template <class Decoder, scalar T>
constexpr auto w4_one_of_offsets(thread t) {
  constexpr f32 one = [] {
    if constexpr (requires { Decoder::unit; })
      return 1.0f / Decoder::unit;
    else
      return 1.0f;
  }();
  constexpr u32 bits = std::bit_cast<std::uint16_t>(T(one));
  return t.let(bit_cast<typename w4_pair<T>::type>(t.let(bits * 0x00010001u)));
}

struct w4_integers : w4_dequantisation {
  static constexpr bool zero_points = true;

  template <scalar T>
  struct decoder {
    static constexpr bool is_half = w4_pair<T>::is_half;
    using pair = typename w4_pair<T>::type;
    static constexpr f32 unit = 1.0f;
    // Pairs to add: `base` for zero point 0, and `step` more for each unit of the zero point.
    static constexpr u32 base(u32 odd) {
      return !is_half ? 0xc300c300u : odd != 0 ? 0xd400d400u : 0xe400e400u;
    }
    static constexpr u32 step(u32 odd) { return is_half && odd != 0 ? 0x00100010u : 0x00010001u; }

    constexpr decoder(thread, const val<w4_problem>&) {}
    static constexpr u32 initial(u32 odd) { return base(odd) + 8 * step(odd); }
    static constexpr auto of_zero(thread, const val<u32>& z, u32 odd) { return z * step(odd) + base(odd); }
    // minus of the zero points of columns 2 g and 2 g + 1, whose byte of `word` which_zeros(g) selects.
    static constexpr auto which_zeros(thread, const val<u32>& g) { return g % 4u * 0x0101u + 0x4040u; }
    static constexpr auto of_zeros(thread t, const val<u32>& word, const val<u32>& which) {
      const val both = t.let(byte_perm(word, 0u, which));
      return array_of<2>([&](u32 odd) {
        if (odd == 0) return t.let(lop3<and_or>(both, 0x000f000fu, base(odd)));
        if (is_half) return t.let(lop3<and_or>(both, 0x00f000f0u, base(odd)));
        return t.let(lop3<and_or>(t.let(both >> 4), 0x000f000fu, base(odd)));
      });
    }

    template <class Words, class Minus, class Registers>
    constexpr void decode(thread t, const Words& words, const Minus& minus, Registers& registers) const {
      for (u32 i = 0; i < 4; ++i) put(t, registers[i], words[0], i, minus[i % 2]);
    }

   private:
    template <class Register, class Word, class Zero>
    static constexpr void put(thread t, Register& to, const Word& word, std::uint32_t i, const Zero& zero) {
      const auto minus = bit_cast<pair>(zero);
      if constexpr (is_half) {
        const val moved = t.let(i < 2 ? t.let(word + 0u) : t.let(word >> 8));
        if (i % 2 == 0)
          to = bit_cast<pair>(lop3<and_or>(moved, 0x000f000fu, 0x64006400u)) + minus;
        else
          to = fma(bit_cast<pair>(lop3<and_or>(moved, 0x00f000f0u, 0x64006400u)), 0.0625, minus);
      } else {
        const val moved = t.let(i == 0 ? t.let(word + 0u) : t.let(word >> (4 * i)));
        to = bit_cast<pair>(lop3<and_or>(moved, 0x000f000fu, 0x43004300u)) + minus;
      }
    }
  };
};

// Integers with offsets: W = scale (q - zero) + offset, with one zero point for all weights. The offset
// multiplies the sum of x over a group, which the matrix instruction forms with a fragment of ones. For
// GGUF's Q4_1 and Q4_K, and tinygemm's float zero points.
struct w4_integers_and_offsets : w4_dequantisation {
  static constexpr fixed_string name = "offsets_";
  static constexpr w4_scales_in_kernel scales = w4_scales_in_kernel::f32;
  static constexpr bool offsets = true;
  static constexpr std::uint32_t slots = 2;

  template <scalar T>
  using decoder = w4_integers::decoder<T>;
};

}  // namespace kaio::ops
