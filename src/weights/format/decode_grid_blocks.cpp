// Blocks whose codes index tables (IQ1 to IQ3), and binary, ternary and 2-bit codes (TQ1_0, TQ2_0, Q1_0, Q2_0). The order
// of the operations is the reference's. Source: ggml src/ggml-quants.c, dequantize_row_*.

#include <kaio/dsl/number/half.hpp>

#include <bit>

#include "weights/base/byte_reader.hpp"
#include "weights/format/decode.hpp"
#include "weights/format/grids.hpp"

namespace kaio::weights {
namespace {

float half_of(std::uint16_t bits) { return static_cast<float>(f16::from_bits(bits)); }
unsigned byte_of(const std::byte* at, unsigned i) { return std::to_integer<unsigned>(at[i]); }
unsigned nibble_of(const std::byte* at, unsigned i) { return byte_of(at, i / 2) >> 4 * (i % 2) & 15; }

unsigned digit(std::string_view grid, unsigned i) {
  const char c = grid[i];
  return static_cast<unsigned>(c <= '9' ? c - '0' : c - 'a' + 10);
}

// Number e of a group of eight: 2 bits, 0 to 2.
unsigned of_eight(std::string_view grid, unsigned group, unsigned e) {
  return digit(grid, 4 * group + e / 2) >> 2 * (e % 2) & 3;
}

constexpr float iq2_values[3] = {8, 25, 43};
constexpr float iq3_xxs_values[8] = {4, 12, 20, 28, 36, 44, 52, 62};

// Seven signs, and an eighth that makes the number of negative ones even.
unsigned eight_signs(unsigned seven) {
  return seven | (static_cast<unsigned>(std::popcount(seven)) & 1) << 7;
}

// The group's eight values with a scale; bit e of `signs` negates value e.
void put_iq2(float* values, std::string_view grid, unsigned group, float scale, unsigned signs) {
  for (unsigned e = 0; e < 8; ++e) {
    const float value = scale * iq2_values[of_eight(grid, group, e)];
    values[e] = (signs >> e & 1) != 0 ? -value : value;
  }
}

float iq2_scale(float d, unsigned scale) { return d * (0.5f + static_cast<float>(scale)) * 0.25f; }

// d @0; @2 for each 32 elements: four groups of 8 bits, and a word of four times seven signs and a scale of 4 bits
void iq2_xxs(const std::byte* block, float* values) {
  const float d = half_of(load<std::uint16_t>(block));
  for (unsigned part = 0; part < 8; ++part) {
    const std::byte* const groups = block + 2 + 8 * part;
    const auto signs = load<std::uint32_t>(groups + 4);
    for (unsigned i = 0; i < 4; ++i)
      put_iq2(values + 32 * part + 8 * i, iq2_xxs_grid, byte_of(groups, i), iq2_scale(d, signs >> 28),
              eight_signs(signs >> 7 * i & 127));
  }
}

// d @0, groups[32] of 9 bits with seven signs @2, scales[8] of 4 bits for 16 elements @66
void iq2_xs(const std::byte* block, float* values) {
  const float d = half_of(load<std::uint16_t>(block));
  for (unsigned i = 0; i < 32; ++i) {
    const unsigned group = load<std::uint16_t>(block + 2 + 2 * i);
    put_iq2(values + 8 * i, iq2_xs_grid, group & 511, iq2_scale(d, nibble_of(block + 66, i / 2)),
            eight_signs(group >> 9));
  }
}

// d @0, low 8 bits of groups[32] @2, signs[32] @34, 2 higher bits of each group @66, scales[8] of 4 bits @74
void iq2_s(const std::byte* block, float* values) {
  const float d = half_of(load<std::uint16_t>(block));
  for (unsigned i = 0; i < 32; ++i) {
    const unsigned high = byte_of(block + 66, i / 4) >> 2 * (i % 4) & 3;
    put_iq2(values + 8 * i, iq2_s_grid, byte_of(block + 2, i) | high << 8,
            iq2_scale(d, nibble_of(block + 74, i / 2)), byte_of(block + 34, i));
  }
}

// d @0, groups of four [64] @2; @66 for each 32 elements: a word of four times seven signs and a scale of 4 bits
void iq3_xxs(const std::byte* block, float* values) {
  const float d = half_of(load<std::uint16_t>(block));
  for (unsigned e = 0; e < 256; ++e) {
    const auto signs = load<std::uint32_t>(block + 66 + 4 * (e / 32));
    const float scale = d * (0.5f + static_cast<float>(signs >> 28)) * 0.5f;
    const float value = scale * iq3_xxs_values[digit(iq3_xxs_grid, 4 * byte_of(block + 2, e / 4) + e % 4)];
    const bool is_negative = (eight_signs(signs >> 7 * (e % 32 / 8) & 127) >> e % 8 & 1) != 0;
    values[e] = is_negative ? -value : value;
  }
}

// d @0, low 8 bits of groups of four [64] @2, a ninth of each @66, signs[32] @74, scales[4] of 4 bits for 32 elements @106
void iq3_s(const std::byte* block, float* values) {
  const float d = half_of(load<std::uint16_t>(block));
  for (unsigned e = 0; e < 256; ++e) {
    const unsigned i = e / 4, group = byte_of(block + 2, i) | (byte_of(block + 66, i / 8) >> i % 8 & 1) << 8;
    const float scale = d * static_cast<float>(1 + 2 * nibble_of(block + 106, e / 32));
    const float value = scale * static_cast<float>(1 + 2 * digit(iq3_s_grid, 4 * group + e % 4));
    values[e] = (byte_of(block + 74, e / 8) >> e % 8 & 1) != 0 ? -value : value;
  }
}

// The group's eight values of -1, 0 and 1, all shifted up or down by an eighth.
void put_iq1(float* values, unsigned group, float scale, bool is_down) {
  const float delta = is_down ? -0.125f : 0.125f;
  for (unsigned e = 0; e < 8; ++e)
    values[e] = scale * (static_cast<float>(of_eight(iq1_grid, group, e)) - 1.0f + delta);
}

// d @0, low 8 bits of groups[32] @2; @34 for each 32 elements: four times 3 higher bits, a scale of 3, the shift's sign
void iq1_s(const std::byte* block, float* values) {
  const float d = half_of(load<std::uint16_t>(block));
  for (unsigned i = 0; i < 32; ++i) {
    const unsigned more = load<std::uint16_t>(block + 34 + 2 * (i / 4));
    const float scale = d * static_cast<float>(2 * (more >> 12 & 7) + 1);
    put_iq1(values + 8 * i, byte_of(block + 2, i) | (more >> 3 * (i % 4) & 7) << 8, scale, more >> 15 != 0);
  }
}

// low 8 bits of groups[32] @0; 3 higher bits and the shift's sign for each @32; @48 four words, each with four scales of
// 3 bits for 16 elements, and 4 bits of d
void iq1_m(const std::byte* block, float* values) {
  const auto word = [&](unsigned i) {
    return static_cast<unsigned>(load<std::uint16_t>(block + 48 + 2 * i));
  };
  const float d = half_of(static_cast<std::uint16_t>(word(0) >> 12 | word(1) >> 12 << 4 | word(2) >> 12 << 8 |
                                                     word(3) >> 12 << 12));
  for (unsigned i = 0; i < 32; ++i) {
    const unsigned more = nibble_of(block + 32, i);
    const float scale = d * static_cast<float>(2 * (word(i / 8) >> 3 * (i / 2 % 4) & 7) + 1);
    put_iq1(values + 8 * i, byte_of(block, i) | (more & 7) << 8, scale, (more & 8) != 0);
  }
}

// Digit `place` of a base-3 fraction, 0 to 2. A byte has the first 8 bits of the fraction.
unsigned ternary_digit(unsigned fraction, unsigned place) {
  constexpr unsigned powers[5] = {1, 3, 9, 27, 81};
  return (fraction * powers[place] & 255) * 3 >> 8;
}

// bytes of five digits: [32] for elements 32 apart, [16] for elements 16 apart; [4] of four digits, 4 apart, @48; d @52
void tq1_0(const std::byte* block, float* values) {
  const float d = half_of(load<std::uint16_t>(block + 52));
  const auto put = [&](unsigned byte, unsigned place, unsigned e) {
    values[e] = d * static_cast<float>(static_cast<int>(ternary_digit(byte_of(block, byte), place)) - 1);
  };
  for (unsigned e = 0; e < 160; ++e) put(e % 32, e / 32, e);
  for (unsigned e = 0; e < 80; ++e) put(32 + e % 16, e / 16, 160 + e);
  for (unsigned e = 0; e < 16; ++e) put(48 + e % 4, e / 4, 240 + e);
}

// codes of 2 bits [64] for elements 32 apart, d @64
void tq2_0(const std::byte* block, float* values) {
  const float d = half_of(load<std::uint16_t>(block + 64));
  for (unsigned e = 0; e < 256; ++e)
    values[e] = d * static_cast<float>(
                        static_cast<int>(byte_of(block, e / 128 * 32 + e % 32) >> 2 * (e / 32 % 4) & 3) - 1);
}

// d @0, bits[16] of neighbours @2: d where they are set, else -d
void q1_0(const std::byte* block, float* values) {
  const float d = half_of(load<std::uint16_t>(block));
  for (unsigned e = 0; e < 128; ++e) values[e] = (byte_of(block + 2, e / 8) >> e % 8 & 1) != 0 ? d : -d;
}

// d @0, codes of 2 bits [16] of neighbours @2
void q2_0(const std::byte* block, float* values) {
  const float d = half_of(load<std::uint16_t>(block));
  for (unsigned e = 0; e < 64; ++e)
    values[e] = static_cast<float>(static_cast<int>(byte_of(block + 2, e / 4) >> 2 * (e % 4) & 3) - 1) * d;
}

}  // namespace

block_decoder grid_block_decoder(weight_format format) noexcept {
  switch (format) {
    case weight_format::iq1_s: return iq1_s;
    case weight_format::iq1_m: return iq1_m;
    case weight_format::iq2_xxs: return iq2_xxs;
    case weight_format::iq2_xs: return iq2_xs;
    case weight_format::iq2_s: return iq2_s;
    case weight_format::iq3_xxs: return iq3_xxs;
    case weight_format::iq3_s: return iq3_s;
    case weight_format::tq1_0: return tq1_0;
    case weight_format::tq2_0: return tq2_0;
    case weight_format::q1_0: return q1_0;
    case weight_format::q2_0: return q2_0;
    default: return nullptr;
  }
}

}  // namespace kaio::weights
