#pragma once
// The conversion of four 8-bit codes in a register to two pairs of f16, which hold each code exactly.
//
//   neighbours   codes 0 and 1, codes 2 and 3
//   alternate    codes 0 and 2, codes 1 and 3
//
//   e5m2   is the upper half of an f16
//   i8     code + 128 in the mantissa of 1024, less 1152
//   e4m3   has an instruction from sm_89 on. Before, its bits in the place of an f16's are its value / 256.
//          Times 36864, only a NaN code becomes infinite there; infinity * 0 then makes it NaN

#include <kaio/dsl/dsl.hpp>

#include <cstdint>
#include <type_traits>

namespace kaio::ops {

enum class code_order { neighbours, alternate };

// Multiply the converted pairs of a format by this factor.
template <class T, std::uint16_t Sm>
inline constexpr f32 code_unit = std::is_same_v<T, e4m3> && Sm < 89 ? 256.0f : 1.0f;

namespace detail {

// unpack<e4m3> of half a register. The instruction takes an f16 as it is; a u16 is shifted or masked first.
inline constexpr auto unpack_e4m3 =
    ptx_op<"cvt.rn.f16x2.e4m3x2", f16x2(f16), ptx_effect::pure, ptx_since{.target = {89}, .version = {8, 1}}>;

// Bytes of `codes` and `others`; the selector gets the places, 0 to 3, of two codes.
template <code_order Order, class Places>
constexpr auto arranged(thread t, const val<u32>& codes, const val<u32>& others, const Places& selector) {
  constexpr bool alternate = Order == code_order::alternate;
  const val first = t.let(byte_perm(codes, others, selector(0u, alternate ? 2u : 1u)));
  const val second = t.let(byte_perm(codes, others, selector(alternate ? 1u : 2u, 3u)));
  return array_of<2>([&](u32 i) { return i == 0 ? first : second; });
}

// Each code in the upper byte of 16 bits, zeros below.
template <code_order Order>
constexpr auto upper_bytes(thread t, const val<u32>& codes) {
  return arranged<Order>(t, codes, t.let(0u),
                         [](u32 low, u32 high) { return 0x0404u | low << 4 | high << 12; });
}

}  // namespace detail

template <class T, std::uint16_t Sm, code_order Order>
constexpr void convert_codes(thread t, const val<u32>& codes, var<f16x2>& first, var<f16x2>& second) {
  if constexpr (std::is_same_v<T, e5m2>) {
    const auto words = detail::upper_bytes<Order>(t, codes);
    first = bit_cast<f16x2>(words[0]);
    second = bit_cast<f16x2>(words[1]);
  } else if constexpr (std::is_same_v<T, i8>) {
    const val biased = t.let(codes ^ 0x80808080u);
    const auto words = detail::arranged<Order>(t, biased, t.let(0x64646464u),
                                               [](u32 low, u32 high) { return 0x4040u | low | high << 8; });
    first = bit_cast<f16x2>(words[0]) - f16(1152.0f);
    second = bit_cast<f16x2>(words[1]) - f16(1152.0f);
  } else if constexpr (Sm >= 89) {
    const auto halves = [&](const auto& pairs) {
      const val both = t.let(bit_cast<f16x2>(pairs));
      first = detail::unpack_e4m3(low(both));
      second = detail::unpack_e4m3(high(both));
    };
    if constexpr (Order == code_order::neighbours)
      halves(codes);
    else
      halves(t.let(byte_perm(codes, codes, 0x3120u)));
  } else {
    const auto words = detail::upper_bytes<Order>(t, codes);
    const auto convert = [&](const val<u32>& word, var<f16x2>& to) {
      const val magnitude = t.let((word >> 1) & 0x3f803f80u);
      const val x = t.let(bit_cast<f16x2>((word & 0x80008000u) | magnitude));
      to = x * f16(36864.0f) * f16(0.0f) + x;
    };
    convert(words[0], first);
    convert(words[1], second);
  }
}

}  // namespace kaio::ops
