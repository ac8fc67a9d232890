#include "emulator/instructions/texture/texel.hpp"

#include "emulator/program/half.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace kaio::emulator {
namespace texels {
namespace {

u32 element(const std::byte* texel, const texel_format& format, unsigned channel) {
  u32 bits = 0;
  std::memcpy(&bits, texel + std::size_t{channel} * format.bytes, format.bytes);
  return bits;
}

s32 sign_extended(u32 bits, unsigned bytes) {
  const unsigned up = 32 - bytes * 8;
  return static_cast<s32>(bits << up) >> up;
}

f64 number(u32 bits, const texel_format& format) {
  const unsigned width = format.bytes * 8u;
  switch (format.kind) {
    case texel_kind::floating:
      return format.bytes == 4 ? f64{std::bit_cast<f32>(bits)} : value_of(f16{static_cast<u16>(bits)});
    case texel_kind::unsigned_integer: return bits / static_cast<f64>((u64{1} << width) - 1);
    case texel_kind::signed_integer: break;
  }
  return std::max(sign_extended(bits, format.bytes) / static_cast<f64>((u64{1} << (width - 1)) - 1), -1.0);
}

}  // namespace
}  // namespace texels

std::array<f64, 4> numbers_of(const std::byte* texel, const texel_format& format) {
  std::array<f64, 4> result{};
  for (unsigned c = 0; c < format.channels; ++c)
    result[c] = texels::number(texels::element(texel, format, c), format);
  return result;
}

std::array<u32, 4> words_of(const std::byte* texel, const texel_format& format) {
  std::array<u32, 4> result{};
  for (unsigned c = 0; c < format.channels; ++c) {
    const u32 bits = texels::element(texel, format, c);
    result[c] = format.kind == texel_kind::signed_integer
                    ? static_cast<u32>(texels::sign_extended(bits, format.bytes))
                    : bits;
  }
  return result;
}

}  // namespace kaio::emulator
