#pragma once
// Quantises to i8, in kernels whose last step quantises. A row's scale is max |x| / 127 (symmetric), or the
// width of its range, 0 included, / 255 (asymmetric, with a zero point).
//
//   const val scale = int8_scale(t, largest);                  // largest: max |x| over the row
//   codes[i] = int8_code(t, x, scale);

#include <kaio/dsl/dsl.hpp>

#include <cstdint>

namespace kaio::ops {

// largest / 127, or 1 for a row of zeros.
constexpr val<f32> int8_scale(thread t, const val<f32>& largest) {
  const val scale = t.let(largest / 127.0f);
  return t.let(select(scale == 0.0f, 1.0f, scale));
}
// (highest - lowest) / 255 for a range that includes 0, or 1 if the range is 0 alone.
constexpr val<f32> int8_scale_of_range(thread t, const val<f32>& lowest, const val<f32>& highest) {
  const val scale = t.let((highest - lowest) / 255.0f);
  return t.let(select(scale == 0.0f, 1.0f, scale));
}
// The code of 0, given that the lowest number has code -128.
constexpr val<i32> int8_zero_point(thread t, const val<f32>& lowest, const val<f32>& scale) {
  return t.let(cast<i32>(cast_sat<i8>(cast<i32>(-128.0f - lowest / scale, dsl::round_nearest))));
}

// x / scale, rounded to the nearest even, [+ the zero point,] clamped to -128 ... 127; NaN is 0 [the zero
// point]. int8_code_of takes the quotient.
constexpr val<i8> int8_code_of(thread t, const val<f32>& quotient) {
  return t.let(cast_sat<i8>(cast<i32>(quotient, dsl::round_nearest)));
}
namespace detail {

// The codes of `even` and `odd`, clamped, in the lower two bytes; the lower bytes of `more` in the upper two.
inline constexpr auto pack_i8 =
    dsl::ptx_op<"cvt.pack.sat.s8.s32.b32", u32(i32 /*odd*/, i32 /*even*/, u32 /*more*/),
                dsl::ptx_effect::pure, dsl::ptx_since{.target = {72}, .version = {6, 5}}>;

}  // namespace detail
// int8_code_of each of four quotients from `first` on; the first has the lowest byte.
template <std::uint32_t Sm, class Quotients>
constexpr val<u32> int8_codes_of(thread t, const Quotients& quotients, u32 first) {
  const auto code =
      dsl::array_of<4>([&](u32 i) { return t.let(cast<i32>(quotients[first + i], dsl::round_nearest)); });
  if constexpr (Sm >= 72) {
    const val high = t.let(detail::pack_i8(code[3], code[2], 0u));
    return t.let(detail::pack_i8(code[1], code[0], high));
  } else {
    const auto byte =
        dsl::array_of<4>([&](u32 i) { return t.let(bit_cast<u32>(min(max(code[i], -128), 127))); });
    const val low = t.let(byte_perm(byte[0], byte[1], 0x0040u)),
              high = t.let(byte_perm(byte[2], byte[3], 0x0040u));
    return t.let(byte_perm(low, high, 0x5410u));
  }
}
constexpr val<i8> int8_code(thread t, const val<f32>& x, const val<f32>& scale) {
  return int8_code_of(t, t.let(x / scale));
}
constexpr val<i8> int8_code(thread t, const val<f32>& x, const val<f32>& scale, const val<i32>& zero) {
  // Clamped first: an infinity becomes the least or greatest i32, and the zero point would overflow it.
  const val code = t.let(min(max(cast<i32>(x / scale, dsl::round_nearest), -1024), 1024));
  return t.let(cast_sat<i8>(code + zero));
}

}  // namespace kaio::ops
