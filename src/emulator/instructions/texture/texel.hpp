#pragma once
// Texels in memory as the values that a texture read returns.

#include "emulator/memory/image.hpp"

#include <array>
#include <cstddef>

namespace kaio::emulator {

// A channel that the format does not have is 0.
//
//   format of an element            fractions   others
//   unsigned, b bits                v / (2^b - 1)   v, zero-extended
//   signed, b bits                  max(v / (2^(b-1) - 1), -1)   v, sign-extended
//   floating, 2 or 4 bytes          v   v
//
// numbers_of: for textures whose reads are floating-point numbers. words_of: for those whose reads are integers.
std::array<f64, 4> numbers_of(const std::byte* texel, const texel_format& format);
std::array<u32, 4> words_of(const std::byte* texel, const texel_format& format);

}  // namespace kaio::emulator
