#pragma once
// Loads an operand of 8-bit floats as f16 for f16 matrix instructions, or as f32 for multiply-adds. Both are
// exact. The launch gives the format (e4m3 or e5m2), the address and the strides; all are free.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/matmul_8bit/common/simt.hpp>

#include <bit>
#include <cstdint>

namespace kaio::ops {

// Strides in elements. line: from a row of A, or a column of B, to the next.
struct fp8_matrix {
  i64 line, k, batch;
  u32 is_e5m2;
  u32 unused = 0;
};

// e5m2 is the upper byte of an f16. e4m3 bits placed in an f16 read as the value / 256; 0x7f, its NaN, reads
// as 480.
constexpr val<f16> f16_of_fp8(thread t, const val<u8>& code, const val<bool>& is_e5m2) {
  constexpr f16 nan = std::bit_cast<f16>(std::uint16_t{0x7fff});
  const val shift = t.let(select(is_e5m2, 8u, 7u)), code_of_nan = t.let(select(is_e5m2, 0x100u, 0x7fu));
  const val unit = t.let(select(is_e5m2, f16(1.0f), f16(256.0f)));
  const val bits = t.let(cast<u32>(code));
  const val magnitude = t.let(bits & 0x7fu);
  const val moved = t.let(bit_cast<f16>(cast<u16>((bits & 0x80u) << 8 | magnitude << shift)));
  return t.let(select(magnitude == code_of_nan, nan, moved * unit));
}
// Two codes, in the lower byte of each half.
constexpr val<f16x2> f16x2_of_fp8(thread t, const val<u32>& codes, const val<bool>& is_e5m2) {
  const val shift = t.let(select(is_e5m2, 8u, 7u)), to_nan = t.let(select(is_e5m2, 0u, 0x00010001u));
  const val unit = t.let(select(is_e5m2, f16(1.0f), f16(256.0f)));
  const val magnitude = t.let(codes & 0x007f007fu);
  const val moved = t.let(bit_cast<f16x2>((codes & 0x00800080u) << 8 | magnitude << shift));
  const val number = t.let(bit_cast<u32>(moved * pack(unit, unit)));
  const val is_nan = t.let((magnitude + to_nan) & 0x00800080u);
  return t.let(bit_cast<f16x2>(number | ((is_nan << 8) - (is_nan >> 7))));
}
// Eight codes.
template <class Codes>
constexpr dsl::register_array<val<f16>, 8> f16_of_eight(thread t, const Codes& codes,
                                                        const val<bool>& is_e5m2) {
  const auto pairs = array_of<4>([&](u32 i) {
    const val both = t.let(cast<u32>(codes[2 * i]) | cast<u32>(codes[2 * i + 1]) << 16);
    return f16x2_of_fp8(t, both, is_e5m2);
  });
  return array_of<8>(
      [&](u32 i) { return i % 2 == 0 ? t.let(low(pairs[i / 2])) : t.let(high(pairs[i / 2])); });
}
constexpr val<i64> offset_in(thread t, const val<u32>& batch, const val<u32>& line, const val<u32>& k,
                             const val<fp8_matrix>& matrix) {
  return t.let(cast<i64>(batch) * matrix[&fp8_matrix::batch] + cast<i64>(line) * matrix[&fp8_matrix::line] +
               cast<i64>(k) * matrix[&fp8_matrix::k]);
}

// Loads single numbers.
struct fp8_as_f16 {
  static constexpr fixed_string name = "fp8";
  constexpr val<f16> operator()(thread t, val<u32> batch, val<u32> line, val<u32> k, in<u8> x,
                                val<fp8_matrix> matrix) const {
    const val code = t.let(x[offset_in(t, batch, line, k, matrix)]);
    return f16_of_fp8(t, code, t.let(matrix[&fp8_matrix::is_e5m2] != 0u));
  }
};
// Loads eight neighbours along K that begin at a multiple of 8 bytes.
struct fp8_eights_as_f16 {
  static constexpr fixed_string name = "fp8x8";
  constexpr dsl::register_array<val<f16>, 8> operator()(thread t, val<u32> batch, val<u32> line, val<u32> k,
                                                        in<u8> x, val<fp8_matrix> matrix) const {
    const val codes = load_vec<8>(x[offset_in(t, batch, line, k, matrix)]);
    return f16_of_eight(t, codes, t.let(matrix[&fp8_matrix::is_e5m2] != 0u));
  }
};

// Loads single numbers for f32 multiply-adds.
struct fp8_singles {
  using element = f32;
  static constexpr std::uint32_t width = 1;
  static constexpr fixed_string name = "fp8";

  static constexpr val<f32> load(thread t, const in<u8>& x, const val<byte_matrix>& matrix,
                                 const val<i64>& line, const val<u32>& k, const val<u32>&) {
    const val code = t.let(x[line * matrix[&byte_matrix::line] + cast<i64>(k) * matrix[&byte_matrix::k]]);
    return t.let(cast<f32>(f16_of_fp8(t, code, t.let(matrix[&byte_matrix::format] != 0u))));
  }
  static constexpr val<f32> add(thread t, const val<f32>& sum, const val<f32>& a, const val<f32>& b) {
    return t.let(fma(a, b, sum));
  }
};

}  // namespace kaio::ops
