// Blocks of 256 elements with scales of their 16 or 32 elements inside: the K-quants and IQ4_XS. d and m are
// f16; the order of the operations is the reference's. Source: ggml src/ggml-quants.c, dequantize_row_*.

#include <kaio/dsl/number/half.hpp>

#include "weights/base/byte_reader.hpp"
#include "weights/format/decode.hpp"

namespace kaio::weights {
namespace {

constexpr float iq4_values[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};

float half_at(const std::byte* at) { return static_cast<float>(f16::from_bits(load<std::uint16_t>(at))); }
unsigned byte_at(const std::byte* at, unsigned i) { return std::to_integer<unsigned>(at[i]); }

// The 2-bit code of element e: four planes of 32 in each 32 bytes.
unsigned two_bits(const std::byte* codes, unsigned e) {
  const unsigned half = e / 128, plane = e % 128 / 32, lane = e % 32;
  return byte_at(codes, 32 * half + lane) >> 2 * plane & 3;
}

// scales[16] @0, codes[64] @16, d @80, m @82
void q2_k(const std::byte* block, float* values) {
  const float d = half_at(block + 80), m = half_at(block + 82);
  for (unsigned e = 0; e < 256; ++e) {
    const unsigned scale = byte_at(block, e / 16);
    values[e] = d * static_cast<float>(scale & 15) * static_cast<float>(two_bits(block + 16, e)) -
                m * static_cast<float>(scale >> 4);
  }
}

// high[32] @0, codes[64] @32, scales[12] @96 of 6 bits, d @108
void q3_k(const std::byte* block, float* values) {
  const float d = half_at(block + 108);
  const std::byte* const s = block + 96;
  for (unsigned e = 0; e < 256; ++e) {
    const unsigned i = e / 16, plane = e / 32;
    const unsigned low = i < 8 ? byte_at(s, i) & 15 : byte_at(s, i - 8) >> 4;
    const unsigned high = byte_at(s, 8 + i % 4) >> 2 * (i / 4) & 3;
    const int scale = static_cast<int>(low | high << 4) - 32;
    const int code =
        static_cast<int>(two_bits(block + 32, e)) - ((byte_at(block, e % 32) >> plane & 1) != 0 ? 0 : 4);
    values[e] = d * static_cast<float>(scale) * static_cast<float>(code);
  }
}

struct scale_and_minimum {
  float scale, minimum;
};

// Eight pairs in 12 bytes, 6 bits each.
scale_and_minimum scales_of(const std::byte* s, unsigned j) {
  if (j < 4) return {static_cast<float>(byte_at(s, j) & 63), static_cast<float>(byte_at(s, j + 4) & 63)};
  return {static_cast<float>((byte_at(s, j + 4) & 15) | byte_at(s, j - 4) >> 6 << 4),
          static_cast<float>(byte_at(s, j + 4) >> 4 | byte_at(s, j) >> 6 << 4)};
}

// The 4-bit code of element e: two planes of 32 in each 32 bytes.
unsigned four_bits(const std::byte* codes, unsigned e) {
  const unsigned plane = e / 32, pair = byte_at(codes, 32 * (plane / 2) + e % 32);
  return plane % 2 == 0 ? pair & 15 : pair >> 4;
}

// d @0, m @2, scales[12] @4, codes[128] @16
void q4_k(const std::byte* block, float* values) {
  const float d = half_at(block), m = half_at(block + 2);
  for (unsigned e = 0; e < 256; ++e) {
    const scale_and_minimum s = scales_of(block + 4, e / 32);
    values[e] = d * s.scale * static_cast<float>(four_bits(block + 16, e)) - m * s.minimum;
  }
}

// d @0, m @2, scales[12] @4, high[32] @16, codes[128] @48
void q5_k(const std::byte* block, float* values) {
  const float d = half_at(block), m = half_at(block + 2);
  for (unsigned e = 0; e < 256; ++e) {
    const scale_and_minimum s = scales_of(block + 4, e / 32);
    const unsigned code = four_bits(block + 48, e) + 16 * (byte_at(block + 16, e % 32) >> e / 32 & 1);
    values[e] = d * s.scale * static_cast<float>(code) - m * s.minimum;
  }
}

// low[128] @0, high[64] @128, scales[16] @192 as i8, d @208
void q6_k(const std::byte* block, float* values) {
  const float d = half_at(block + 208);
  for (unsigned e = 0; e < 256; ++e) {
    const unsigned half = e / 128, plane = e % 128 / 32, lane = e % 32;
    const unsigned pair = byte_at(block, 64 * half + lane + 32 * (plane % 2));
    const unsigned low = plane < 2 ? pair & 15 : pair >> 4;
    const unsigned high = byte_at(block + 128, 32 * half + lane) >> 2 * plane & 3;
    const auto scale = load<std::int8_t>(block + 192 + e / 16);
    values[e] = d * static_cast<float>(scale) * static_cast<float>(static_cast<int>(low | high << 4) - 32);
  }
}

// d @0, high bits of the scales @2, low ones[4] @4, codes[128] @8
void iq4_xs(const std::byte* block, float* values) {
  const float d = half_at(block);
  const unsigned high = load<std::uint16_t>(block + 2);
  for (unsigned e = 0; e < 256; ++e) {
    const unsigned b = e / 32;
    const unsigned scale = (byte_at(block + 4, b / 2) >> 4 * (b % 2) & 15) | (high >> 2 * b & 3) << 4;
    const unsigned pair = byte_at(block + 8, 16 * b + e % 16);
    values[e] = d * static_cast<float>(static_cast<int>(scale) - 32) *
                iq4_values[e % 32 < 16 ? pair & 15 : pair >> 4];
  }
}

}  // namespace

block_decoder long_block_decoder(weight_format format) noexcept {
  switch (format) {
    case weight_format::q2_k: return q2_k;
    case weight_format::q3_k: return q3_k;
    case weight_format::q4_k: return q4_k;
    case weight_format::q5_k: return q5_k;
    case weight_format::q6_k: return q6_k;
    case weight_format::iq4_xs: return iq4_xs;
    default: return nullptr;
  }
}

}  // namespace kaio::weights
