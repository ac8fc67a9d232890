#pragma once
// From four bits to the operands of a matrix instruction, exactly: the bits of a code become the lowest ones
// of the mantissa of a number whose last place is 1, from which that number and the zero point are
// subtracted.
//
//   f16, even registers    1024 + q           - (1024 + z)
//        odd ones          (1024 + 16 q) / 16 - (64 + z)      by one fma, of the bits where they are
//   bf16                   128 + q            - (128 + z)
//
// Source: Kim et al., "Who Says Elephants Can't Run: Bringing Large Scale MoE Models into Cloud Scale
// Production", 2022.

#include <kaio/dsl/dsl.hpp>

#include <cstdint>
#include <type_traits>

namespace kaio::ops {

using dsl::scalar;

template <scalar T>
struct w4_decoder {
  static constexpr bool is_half = std::is_same_v<T, f16>;
  static_assert(is_half || std::is_same_v<T, bf16>);
  using pair = std::conditional_t<is_half, f16x2, bf16x2>;
  // Pairs of what is added for zero point 0, of even and odd registers, and what each unit of it adds.
  static constexpr u32 base(u32 odd) { return !is_half ? 0xc300c300u : odd != 0 ? 0xd400d400u : 0xe400e400u; }
  static constexpr u32 unit(u32 odd) { return is_half && odd != 0 ? 0x00100010u : 0x00010001u; }
  static constexpr u32 of_zero(u32 z, u32 odd) { return base(odd) + z * unit(odd); }

  // Register i of the word: q - z of both its codes. `zero`: bits of base + z * unit.
  template <class Word, class Zero>
  static constexpr auto decode(thread t, const Word& word, std::uint32_t i, const Zero& zero) {
    const auto minus = bit_cast<pair>(zero);
    if constexpr (is_half) {
      const val moved = t.let(i < 2 ? t.let(word + 0u) : t.let(word >> 8));
      if (i % 2 == 0) return t.let(bit_cast<pair>((moved & 0x000f000fu) | 0x64006400u) + minus);
      return t.let(fma(bit_cast<pair>((moved & 0x00f000f0u) | 0x64006400u), 0.0625, minus));
    } else {
      const val moved = t.let(i == 0 ? t.let(word + 0u) : t.let(word >> (4 * i)));
      return t.let(bit_cast<pair>((moved & 0x000f000fu) | 0x43004300u) + minus);
    }
  }
};

}  // namespace kaio::ops
