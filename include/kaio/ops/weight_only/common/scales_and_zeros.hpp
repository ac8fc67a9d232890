#pragma once
// The scales and zero points of a tile in shared memory: where they are, and how they become f32.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/weight_only/common/codes.hpp>
#include <kaio/ops/weight_only/common/layout.hpp>
#include <kaio/ops/weight_only/common/problem.hpp>

#include <cstdint>

namespace kaio::ops {

enum class w4_scales_in_kernel : std::uint8_t { f16_or_bf16, f32, e8m0, e4m3 };

// 2^(byte - 127): subnormal for 0, NaN for 255.
constexpr val<f32> scale_of_e8m0(thread t, const val<u32>& byte) {
  const val number = t.let(max(byte << 23, 0x00400000u));
  return t.let(bit_cast<f32>(select(byte == 255u, 0x7fffffffu, number)));
}
// The magnitude of an e4m3 scale. Its bits move to the exponent and mantissa of f32, and a power of two
// corrects the exponent, which is right for subnormal numbers too. 0x7f, a NaN that no quantiser writes,
// becomes 480.
constexpr val<f32> scale_of_e4m3(thread t, const val<u32>& byte) {
  return t.let(bit_cast<f32>((byte & 0x7fu) << 20) * 0x1p120f);
}

// The words of a tile for dequantisation D (decode.hpp): [slots][scales of 32 n], then [slots][zero points or
// f32 offsets of 32 n].
template <class D>
struct w4_scales_and_zeros {
  static constexpr std::uint32_t scale_bytes = D::scales == w4_scales_in_kernel::f32           ? 4
                                               : D::scales == w4_scales_in_kernel::f16_or_bf16 ? 2
                                                                                               : 1;
  static constexpr std::uint32_t slots = D::slots == 0 ? 4 : D::slots;
  static constexpr std::uint32_t scale_pieces_of_group = w4_tile_n * scale_bytes / 16;  // pieces of 16 bytes
  static constexpr std::uint32_t zero_pieces_of_group = D::offsets       ? w4_tile_n * 4 / 16
                                                        : D::zero_points ? w4_tile_n * D::bits / 8 / 16
                                                                         : 0;
  static constexpr std::uint32_t scale_pieces = slots * scale_pieces_of_group;
  static constexpr std::uint32_t pieces = scale_pieces + slots * zero_pieces_of_group;
  static constexpr std::uint32_t words = pieces * 4, passes = (pieces + 31) / 32;

  template <class Even, class Odd>
  struct two {
    Even even;
    Odd odd;
  };

  // Scales of columns 2 g and 2 g + 1 of half h of a tile, whose words begin at `first`.
  template <class ScalesAndZeros, class Slot>
  static constexpr two<val<f32>, val<f32>> scales(thread t, const ScalesAndZeros& scales_and_zeros,
                                                  const val<u32>& first, const Slot& slot, const val<u32>& g,
                                                  u32 h, [[maybe_unused]] const val<bool>& is_bf16) {
    using enum w4_scales_in_kernel;
    constexpr u32 of_slot = scale_pieces_of_group * 4;
    if constexpr (D::scales == f32) {
      const val both = load_vec<2>(scales_and_zeros[first + (slot * of_slot + h * 16u) + g * 2u]);
      const val even = t.let(bit_cast<kaio::f32>(both[0])), odd = t.let(bit_cast<kaio::f32>(both[1]));
      return {even, odd};
    } else if constexpr (D::scales == f16_or_bf16) {
      const val both = scales_and_zeros[first + (slot * of_slot + h * 8u) + g];
      return scales_of(t, both, is_bf16);
    } else {
      return scales_of(t, two_bytes(t, scales_and_zeros, t.let(first + (slot * of_slot + h * 4u)), g),
                       is_bf16);
    }
  }
  // Both scales from their bits: the even one is in the lower half of the word, or in its lowest byte.
  static constexpr two<val<f32>, val<f32>> scales_of(thread t, const val<u32>& both,
                                                     [[maybe_unused]] const val<bool>& is_bf16) {
    if constexpr (D::scales == w4_scales_in_kernel::f16_or_bf16) {
      const val halves = t.let(bit_cast<f16x2>(both));
      var even(t, cast<kaio::f32>(low(halves))), odd(t, cast<kaio::f32>(high(halves)));
      if (auto brain = t.when(is_bf16)) {
        even = bit_cast<kaio::f32>(both << 16);
        odd = bit_cast<kaio::f32>(both & 0xffff0000u);
      }
      return {t.let(even), t.let(odd)};
    } else {
      const val even = of_byte(t, t.let(both & 0xffu)), odd = of_byte(t, t.let(both >> 8 & 0xffu));
      return {even, odd};
    }
  }
  // Offsets of columns 2 g and 2 g + 1 of half h.
  template <class ScalesAndZeros, class Slot>
  static constexpr two<val<f32>, val<f32>> offsets(thread t, const ScalesAndZeros& scales_and_zeros,
                                                   const val<u32>& first, const Slot& slot, const val<u32>& g,
                                                   u32 h) {
    constexpr u32 of_slot = zero_pieces_of_group * 4;
    const val both =
        load_vec<2>(scales_and_zeros[first + (slot * of_slot + (scale_pieces * 4 + h * 16u)) + g * 2u]);
    const val even = t.let(bit_cast<kaio::f32>(both[0])), odd = t.let(bit_cast<kaio::f32>(both[1]));
    return {even, odd};
  }
  // Zero points of columns 2 g and 2 g + 1 of half h.
  template <class ScalesAndZeros, class Slot>
  static constexpr two<val<u32>, val<u32>> zeros(thread t, const ScalesAndZeros& scales_and_zeros,
                                                 const val<u32>& first, const Slot& slot, const val<u32>& g,
                                                 u32 h) {
    if constexpr (D::bits == 4) {
      const val word = scales_and_zeros[first + (slot * 4u + (scale_pieces * 4 + h * 2u)) + g / 4u];
      const val both = t.let(word >> (g % 4u * 8u));
      const val even = t.let(both & 15u), odd = t.let(both >> 4 & 15u);
      return {even, odd};
    } else {
      const val both =
          two_bytes(t, scales_and_zeros, t.let(first + (slot * 8u + (scale_pieces * 4 + h * 4u))), g);
      const val even = t.let(both & 0xffu), odd = t.let(both >> 8 & 0xffu);
      return {even, odd};
    }
  }

 private:
  template <class ScalesAndZeros>
  static constexpr val<u32> two_bytes(thread t, const ScalesAndZeros& scales_and_zeros, const val<u32>& from,
                                      const val<u32>& g) {
    const val word = scales_and_zeros[from + g / 2u];
    return t.let(word >> (g % 2u * 16u));
  }
  static constexpr val<f32> of_byte(thread t, const val<u32>& byte) {
    if constexpr (D::scales == w4_scales_in_kernel::e8m0)
      return scale_of_e8m0(t, byte);
    else
      return scale_of_e4m3(t, byte);
  }
};

}  // namespace kaio::ops
