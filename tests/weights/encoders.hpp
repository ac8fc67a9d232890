#pragma once
// Encodes numbers as blocks of GGUF, as the reference (gguf 0.19.0) does in f32 and in its order of operations. The
// count of numbers is a multiple of 32.

#include <kaio/dsl/number/half.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

namespace kaio::tests {

using block_numbers = std::span<const float, 32>;
using block_codes = std::array<int, 32>;

// Each block of 32 by `encode`, one after the other.
template <class Encode>
std::string in_blocks(const std::vector<float>& x, const Encode& encode) {
  std::string bytes;
  for (std::size_t at = 0; at < x.size(); at += 32) bytes += encode(block_numbers(&x[at], 32));
  return bytes;
}

inline std::string half_bytes(float number) {
  const std::uint16_t bits = f16(number).bits();
  return {static_cast<char>(bits & 255u), static_cast<char>(bits >> 8)};
}
// The lower four bits of the codes: of e in the lower nibble of byte e, of e + 16 in the upper one.
inline std::string nibble_bytes(const block_codes& codes) {
  std::string bytes;
  for (std::size_t e = 0; e < 16; ++e)
    bytes += static_cast<char>((codes[e] & 15) | (codes[e + 16] & 15) << 4);
  return bytes;
}
// The fifth bits of the codes.
inline std::string fifth_bit_bytes(const block_codes& codes) {
  std::string bytes(4, '\0');
  for (std::size_t e = 0; e < 32; ++e)
    bytes[e / 8] = static_cast<char>(bytes[e / 8] | (codes[e] >> 4 & 1) << e % 8);
  return bytes;
}

// The first number of the largest magnitude.
inline float largest_of(block_numbers x) {
  return *std::max_element(x.begin(), x.end(), [](float a, float b) { return std::abs(a) < std::abs(b); });
}
inline float inverse_of(float scale) { return scale != 0 ? 1 / scale : 0; }

// (c - 2^(bits - 1)) * d, where d is the largest number over -2^(bits - 1).
inline block_codes symmetric_codes(block_numbers x, float d, int bits) {
  const float inverse = inverse_of(d), middle = static_cast<float>(1 << (bits - 1)) + 0.5f;
  block_codes codes{};
  for (std::size_t e = 0; e < 32; ++e)
    codes[e] = std::min((1 << bits) - 1, static_cast<int>(x[e] * inverse + middle));
  return codes;
}
// c * d + m, where m is the least number.
struct affine_block {
  float d = 0, m = 0;
  block_codes codes{};
  affine_block(block_numbers x, int bits) {
    const auto [least, most] = std::minmax_element(x.begin(), x.end());
    const int last = (1 << bits) - 1;
    m = *least;
    d = (*most - m) / static_cast<float>(last);
    const float inverse = inverse_of(d);
    for (std::size_t e = 0; e < 32; ++e)
      codes[e] = std::min(last, static_cast<int>((x[e] - m) * inverse + 0.5f));
  }
};

inline std::string as_q4_0(const std::vector<float>& x) {
  return in_blocks(x, [](block_numbers of) {
    const float d = largest_of(of) / -8;
    return half_bytes(d) + nibble_bytes(symmetric_codes(of, d, 4));
  });
}
inline std::string as_q4_1(const std::vector<float>& x) {
  return in_blocks(x, [](block_numbers of) {
    const affine_block b(of, 4);
    return half_bytes(b.d) + half_bytes(b.m) + nibble_bytes(b.codes);
  });
}
inline std::string as_q5_0(const std::vector<float>& x) {
  return in_blocks(x, [](block_numbers of) {
    const float d = largest_of(of) / -16;
    const block_codes codes = symmetric_codes(of, d, 5);
    return half_bytes(d) + fifth_bit_bytes(codes) + nibble_bytes(codes);
  });
}
inline std::string as_q5_1(const std::vector<float>& x) {
  return in_blocks(x, [](block_numbers of) {
    const affine_block b(of, 5);
    return half_bytes(b.d) + half_bytes(b.m) + fifth_bit_bytes(b.codes) + nibble_bytes(b.codes);
  });
}
inline std::string as_q8_0(const std::vector<float>& x) {
  return in_blocks(x, [](block_numbers of) {
    const float d = std::abs(largest_of(of)) / 127, inverse = inverse_of(d);
    std::string bytes = half_bytes(d);
    for (const float number : of) bytes += static_cast<char>(std::round(number * inverse));
    return bytes;
  });
}
// The scale is two places below the power of two of the largest number; a number takes the first of the nearest codes.
inline std::string as_mxfp4(const std::vector<float>& x) {
  return in_blocks(x, [](block_numbers of) {
    constexpr float e2m1[] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
    const float largest = std::abs(largest_of(of));
    const int exponent = largest > 0 ? std::ilogb(largest) - 2 : -127;
    const float scale = std::ldexp(1.0f, exponent);
    block_codes codes{};
    for (std::size_t e = 0; e < 32; ++e) {
      const auto error = [&](int code) {
        return std::abs((code < 8 ? 1.0f : -1.0f) * e2m1[code % 8] * scale - of[e]);
      };
      for (int code = 1; code < 16; ++code)
        if (error(code) < error(codes[e])) codes[e] = code;
    }
    return static_cast<char>(exponent + 127) + nibble_bytes(codes);
  });
}

}  // namespace kaio::tests
