#pragma once
// Describes where the fields of a block are, in numbers, so that one kernel decodes all formats. A thread
// decodes eight neighbours e = 8 j .. 8 j + 7 of a block, which share a scale. A code has two parts:
//
//   low    bits [plane * bits, plane * bits + bits) of eight neighbouring bytes, one code per byte. Bits
//          [plane_at, plane_at + plane_bits) of j are the plane. The other bits of j, joined, are the index
//          of the eight bytes.
//   high   further bits, from bit `high_to` of the code on: a plane of eight bytes (the plane begins at bit 2
//          of j), or the eight bits of one byte
//
//   value = (d * scale) * (code - bias) - m * minimum     each operation rounded to f32
//
// If there is a table, its entry replaces the code (bias 128). The order is that of ggml's dequantize_row_*.

#include <kaio/ops/weight_only/formats/block_format.hpp>

#include <cstdint>

namespace kaio::ops {

// How scale and minimum are stored: d alone, d and m, bytes of E8M0 or UE4M3, or d (and m) times numbers of
// the block.
namespace block_scales {
enum : u32 { d, d_m, e8m0, ue4m3, two_nibbles, six_bits_3, six_bits_4, eight_bits, iq4 };
}
namespace high_codes {
enum : u32 { none, bytes, bits };
}

struct block_layout {
  u32 elements = 0, bytes = 0;
  u32 d_at = 0, m_at = 0, scales_at = 0;  // bytes from the block's beginning
  u32 scales = block_scales::d;
  u32 codes_at = 0;
  u32 bits = 0, plane_at = 0, plane_bits = 0;
  u32 bias = 0;
  u32 high = high_codes::none;
  u32 high_at = 0, high_bits = 0, high_plane_bits = 0, high_to = 0;
  u32 has_table = 0;  // 1: codes index the table, whose bytes are value + 128
  u32 table[4] = {};
};

namespace detail {
constexpr u32 table_word(int a, int b, int c, int d) {
  return static_cast<u32>(a + 128) | static_cast<u32>(b + 128) << 8 | static_cast<u32>(c + 128) << 16 |
         static_cast<u32>(d + 128) << 24;
}
constexpr block_layout with_iq4_table(block_layout a) {
  a.has_table = 1;
  a.table[0] = table_word(-127, -104, -83, -65);
  a.table[1] = table_word(-49, -35, -22, -10);
  a.table[2] = table_word(1, 13, 25, 38);
  a.table[3] = table_word(53, 69, 89, 113);
  a.bias = 128;
  return a;
}
// The values are twice e2m1's. -0 is 0, as in the reference.
constexpr block_layout with_e2m1_table(block_layout a) {
  a.has_table = 1;
  a.table[0] = table_word(0, 1, 2, 3);
  a.table[1] = table_word(4, 6, 8, 12);
  a.table[2] = table_word(0, -1, -2, -3);
  a.table[3] = table_word(-4, -6, -8, -12);
  a.bias = 128;
  return a;
}
constexpr block_layout fields_of(block_format format) {
  using enum block_format;
  switch (format) {
    case q4_0: return {.codes_at = 2, .bits = 4, .plane_at = 1, .plane_bits = 1, .bias = 8};
    case q4_1:
      return {
          .m_at = 2, .scales = block_scales::d_m, .codes_at = 4, .bits = 4, .plane_at = 1, .plane_bits = 1};
    case q5_0:
      return {.codes_at = 6,
              .bits = 4,
              .plane_at = 1,
              .plane_bits = 1,
              .bias = 16,
              .high = high_codes::bits,
              .high_at = 2,
              .high_to = 4};
    case q5_1:
      return {.m_at = 2,
              .scales = block_scales::d_m,
              .codes_at = 8,
              .bits = 4,
              .plane_at = 1,
              .plane_bits = 1,
              .high = high_codes::bits,
              .high_at = 4,
              .high_to = 4};
    case q8_0: return {.codes_at = 2, .bits = 8, .bias = 128};
    case q2_k:
      return {.d_at = 80,
              .m_at = 82,
              .scales = block_scales::two_nibbles,
              .codes_at = 16,
              .bits = 2,
              .plane_at = 2,
              .plane_bits = 2};
    case q3_k:
      return {.d_at = 108,
              .scales_at = 96,
              .scales = block_scales::six_bits_3,
              .codes_at = 32,
              .bits = 2,
              .plane_at = 2,
              .plane_bits = 2,
              .bias = 4,
              .high = high_codes::bytes,
              .high_at = 0,
              .high_bits = 1,
              .high_plane_bits = 3,
              .high_to = 2};
    case q4_k:
      return {.m_at = 2,
              .scales_at = 4,
              .scales = block_scales::six_bits_4,
              .codes_at = 16,
              .bits = 4,
              .plane_at = 2,
              .plane_bits = 1};
    case q5_k:
      return {.m_at = 2,
              .scales_at = 4,
              .scales = block_scales::six_bits_4,
              .codes_at = 48,
              .bits = 4,
              .plane_at = 2,
              .plane_bits = 1,
              .high = high_codes::bytes,
              .high_at = 16,
              .high_bits = 1,
              .high_plane_bits = 3,
              .high_to = 4};
    case q6_k:
      return {.d_at = 208,
              .scales_at = 192,
              .scales = block_scales::eight_bits,
              .codes_at = 0,
              .bits = 4,
              .plane_at = 3,
              .plane_bits = 1,
              .bias = 32,
              .high = high_codes::bytes,
              .high_at = 128,
              .high_bits = 2,
              .high_plane_bits = 2,
              .high_to = 4};
    case iq4_nl: return with_iq4_table({.codes_at = 2, .bits = 4, .plane_at = 1, .plane_bits = 1});
    case iq4_xs:
      return with_iq4_table({.scales_at = 2,
                             .scales = block_scales::iq4,
                             .codes_at = 8,
                             .bits = 4,
                             .plane_at = 1,
                             .plane_bits = 1});
    case mxfp4:
      return with_e2m1_table(
          {.scales = block_scales::e8m0, .codes_at = 1, .bits = 4, .plane_at = 1, .plane_bits = 1});
    case nvfp4:
      return with_e2m1_table(
          {.scales = block_scales::ue4m3, .codes_at = 4, .bits = 4, .plane_at = 0, .plane_bits = 1});
  }
  return {};
}
}  // namespace detail

constexpr block_layout layout_of(block_format format) {
  block_layout result = detail::fields_of(format);
  result.elements = facts(format).elements;
  result.bytes = facts(format).bytes;
  return result;
}

}  // namespace kaio::ops
