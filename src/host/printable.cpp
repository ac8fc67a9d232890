#include "host/printable.hpp"

#include <array>

namespace kaio::host {
namespace {

constexpr unsigned byte_of(char c) { return static_cast<unsigned char>(c); }

constexpr bool acts_on_a_terminal(char32_t point) {
  if (point == '\n' || point == '\t') return false;
  return point < 0x20 || (point >= 0x7f && point < 0xa0) || point == 0x200e || point == 0x200f ||
         (point >= 0x202a && point <= 0x202e) || (point >= 0x2066 && point <= 0x2069);
}

}  // namespace

character first_character(std::string_view text) {
  constexpr character invalid;
  constexpr std::array<char32_t, 5> least = {0, 0, 0x80, 0x800, 0x10000};  // shorter forms exist below
  const unsigned first = byte_of(text.front());
  if (first < 0x80) return {1, first, true, acts_on_a_terminal(first)};
  if (first < 0xc2 || first > 0xf4) return invalid;
  const std::size_t bytes = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (text.size() < bytes) return invalid;
  char32_t point = first & (0x7fu >> bytes);
  for (const char next : text.substr(1, bytes - 1)) {
    if ((byte_of(next) & 0xc0u) != 0x80) return invalid;
    point = point << 6 | (byte_of(next) & 0x3fu);
  }
  const bool surrogate = point >= 0xd800 && point < 0xe000;
  if (point < least[bytes] || point > 0x10ffff || surrogate) return invalid;
  return {bytes, point, true, acts_on_a_terminal(point)};
}

std::string printable(std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string shown;
  shown.reserve(text.size());
  while (!text.empty()) {
    const character c = first_character(text);
    const std::string_view taken = text.substr(0, c.bytes);
    text.remove_prefix(c.bytes);
    if (c.is_valid && !c.is_control) {
      shown += taken;
      continue;
    }
    for (const char byte : taken)
      ((shown += "\\x") += digits[byte_of(byte) >> 4]) += digits[byte_of(byte) & 15u];
  }
  return shown;
}

}  // namespace kaio::host
