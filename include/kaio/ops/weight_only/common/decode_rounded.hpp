#pragma once
// Decodes integers of four bits with their scales. Each product is rounded once to the type of x: the
// registers have what `dequantise` writes. Sums of such weights need no scaling and stay in the accumulators
// of wgmma over all of K, which leaves registers for 256 rows of x (sm90/kernel.hpp).

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/weight_only/common/decode.hpp>

#include <cstdint>

namespace kaio::ops {

// For scales of the type of x: two products at once, 13 instructions for eight codes (bf16: 15). The
// difference of a code and a zero point is exact, so its product is rounded as in f32.
struct w4_rounded_integers : w4_dequantisation {
  static constexpr fixed_string name = "rounded_";
  static constexpr bool zero_points = true, scaled = true, rounded = true;
  static constexpr std::uint32_t slots = 2;

  // minus[0], minus[1]: the zero points, as w4_integers takes them; minus[2], minus[3]: the scales.
  template <scalar T>
  struct decoder : w4_integers::decoder<T> {
    using base = w4_integers::decoder<T>;
    using pair = typename base::pair;
    using base::base;

    // From a word with the scales of an even and of an odd column.
    static constexpr auto of_scales(thread t, const val<u32>& both, u32 odd) {
      return t.let(byte_perm(both, 0u, odd == 0 ? 0x1010u : 0x3232u));
    }
    template <class Words, class Minus, class Registers>
    constexpr void decode(thread t, const Words& words, const Minus& minus, Registers& registers) const {
      base::decode(t, words, minus, registers);
      for (u32 i = 0; i < 4; ++i) registers[i] *= bit_cast<pair>(minus[2 + i % 2]);
    }
  };
};

// For scales of another type: products in f32, 29 instructions.
struct w4_rounded_in_f32 : w4_rounded_integers {
  static constexpr fixed_string name = "rounded_in_f32_";

  template <scalar T>
  struct decoder : w4_integers::decoder<T> {
    using base = w4_integers::decoder<T>;
    using pair = typename base::pair;
    using base::base;

    static constexpr auto of_scale(thread t, const val<f32>& scale) { return t.let(bit_cast<u32>(scale)); }
    template <class Words, class Minus, class Registers>
    constexpr void decode(thread t, const Words& words, const Minus& minus, Registers& registers) const {
      base::decode(t, words, minus, registers);
      for (u32 i = 0; i < 4; ++i) {
        const val numbers = t.let(registers[i]);
        const val scale = t.let(bit_cast<f32>(minus[2 + i % 2]));
        const val one = first(t, numbers), other = second(t, numbers);
        registers[i] = pack<pair>(one * scale, other * scale);
      }
    }

   private:
    static constexpr val<f32> first(thread t, const val<pair>& numbers) {
      if constexpr (base::is_half)
        return t.let(cast<f32>(low(numbers)));
      else
        return t.let(bit_cast<f32>(bit_cast<u32>(numbers) << 16));
    }
    static constexpr val<f32> second(thread t, const val<pair>& numbers) {
      if constexpr (base::is_half)
        return t.let(cast<f32>(high(numbers)));
      else
        return t.let(bit_cast<f32>(bit_cast<u32>(numbers) & 0xffff0000u));
    }
  };
};

// For integers of eight bits: products in f32, 28 instructions for eight codes. 2^23 + u has the bits of u.
struct w8_rounded_integers : w4_dequantisation {
  static constexpr fixed_string name = "rounded_";
  static constexpr std::uint32_t bits = 8, slots = 2;
  static constexpr w4_scales_in_kernel scales = w4_scales_in_kernel::f32;
  static constexpr bool zero_points = true, scaled = true, rounded = true;

  template <scalar T>
  struct decoder {
    using pair = typename w4_pair<T>::type;
    static constexpr f32 unit = 1.0f;
    constexpr decoder(thread, const val<w4_problem>&) {}

    static constexpr u32 initial(u32) { return 0x4b000080u; }
    static constexpr auto of_zero(thread t, const val<u32>& z, u32) { return t.let(z | 0x4b000000u); }
    static constexpr auto of_scale(thread t, const val<f32>& scale) { return t.let(bit_cast<u32>(scale)); }
    template <class Words, class Minus, class Registers>
    constexpr void decode(thread t, const Words& words, const Minus& minus, Registers& registers) const {
      for (u32 i = 0; i < 4; ++i) {
        const val zero = t.let(bit_cast<f32>(minus[i % 2])), scale = t.let(bit_cast<f32>(minus[2 + i % 2]));
        const auto both = array_of<2>([&](u32 e) {
          const val own = t.let(byte_perm(words[i / 2], 0x4b000000u, 0x7440u + i % 2 + 2 * e));
          return t.let((bit_cast<f32>(own) - zero) * scale);
        });
        registers[i] = pack<pair>(both[0], both[1]);
      }
    }
  };
};

}  // namespace kaio::ops
