// Blocks of 32 and 64 elements. In those of 32, byte i of the codes has element i in its low half and element
// i + 16 in its high half. d and m are the scale and the minimum, f16; the order of the operations is the
// reference's. Source: ggml src/ggml-quants.c, dequantize_row_*, and gguf's quants.py.

#include <kaio/dsl/number/half.hpp>

#include <bit>

#include "weights/base/byte_reader.hpp"
#include "weights/format/decode.hpp"

namespace kaio::weights {
namespace {

// The values of e2m1, for which the reference has no -0, and of IQ4.
constexpr float e2m1_values[16] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6, 0, -0.5f, -1, -1.5f, -2, -3, -4, -6};
constexpr float iq4_values[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};

float half_at(const std::byte* at) { return static_cast<float>(f16::from_bits(load<std::uint16_t>(at))); }

// The code of 4 bits of element e of 32.
unsigned nibble(const std::byte* codes, unsigned e) {
  const auto pair = std::to_integer<unsigned>(codes[e % 16]);
  return e < 16 ? pair & 15 : pair >> 4;
}
// The code of 5 bits; the fifth bits of all elements are in a word of their own.
unsigned five_bits(const std::byte* codes, std::uint32_t high, unsigned e) {
  return nibble(codes, e) | ((high >> e) & 1) << 4;
}

void q4_0(const std::byte* block, float* values) {
  const float d = half_at(block);
  for (unsigned e = 0; e < 32; ++e)
    values[e] = static_cast<float>(static_cast<int>(nibble(block + 2, e)) - 8) * d;
}

void q4_1(const std::byte* block, float* values) {
  const float d = half_at(block), m = half_at(block + 2);
  for (unsigned e = 0; e < 32; ++e) values[e] = static_cast<float>(nibble(block + 4, e)) * d + m;
}

void q5_0(const std::byte* block, float* values) {
  const float d = half_at(block);
  const auto high = load<std::uint32_t>(block + 2);
  for (unsigned e = 0; e < 32; ++e)
    values[e] = static_cast<float>(static_cast<int>(five_bits(block + 6, high, e)) - 16) * d;
}

void q5_1(const std::byte* block, float* values) {
  const float d = half_at(block), m = half_at(block + 2);
  const auto high = load<std::uint32_t>(block + 4);
  for (unsigned e = 0; e < 32; ++e) values[e] = static_cast<float>(five_bits(block + 8, high, e)) * d + m;
}

void q8_0(const std::byte* block, float* values) {
  const float d = half_at(block);
  for (unsigned e = 0; e < 32; ++e) values[e] = static_cast<float>(load<std::int8_t>(block + 2 + e)) * d;
}

void iq4_nl(const std::byte* block, float* values) {
  const float d = half_at(block);
  for (unsigned e = 0; e < 32; ++e) values[e] = d * iq4_values[nibble(block + 2, e)];
}

// The scale is a power of two without a sign, and 255 is NaN.
void mxfp4(const std::byte* block, float* values) {
  const auto exponent = std::to_integer<std::uint32_t>(block[0]);
  const float scale = std::bit_cast<float>(exponent == 255 ? 0x7fc00000u
                                           : exponent == 0 ? 0x00400000u  // 2^-127 is subnormal
                                                           : exponent << 23);
  for (unsigned e = 0; e < 32; ++e) values[e] = e2m1_values[nibble(block + 1, e)] * scale;
}

// e4m3 without its sign; the reference reads 0x7f as 0, and 0xff as 480.
float ue4m3(std::byte code) {
  if (code == std::byte{0x7f}) return 0;
  const unsigned bits = std::to_integer<unsigned>(code) & 0x7f;
  const unsigned exponent = bits >> 3, fraction = bits & 7;
  if (exponent == 0) return static_cast<float>(fraction) * 0x1p-9f;
  return std::bit_cast<float>((exponent + 120) << 23 | fraction << 20);
}

void nvfp4(const std::byte* block, float* values) {
  for (unsigned e = 0; e < 64; ++e) {
    const unsigned group = e / 16, i = e % 16;
    const auto pair = std::to_integer<unsigned>(block[4 + 8 * group + i % 8]);
    values[e] = e2m1_values[i < 8 ? pair & 15 : pair >> 4] * ue4m3(block[group]);
  }
}

}  // namespace

block_decoder short_block_decoder(weight_format format) noexcept {
  switch (format) {
    case weight_format::q4_0: return q4_0;
    case weight_format::q4_1: return q4_1;
    case weight_format::q5_0: return q5_0;
    case weight_format::q5_1: return q5_1;
    case weight_format::q8_0: return q8_0;
    case weight_format::iq4_nl: return iq4_nl;
    case weight_format::mxfp4: return mxfp4;
    case weight_format::nvfp4: return nvfp4;
    default: return nullptr;
  }
}

}  // namespace kaio::weights
