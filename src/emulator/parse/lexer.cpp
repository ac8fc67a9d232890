#include "emulator/parse/lexer.hpp"

#include "emulator/program/error.hpp"

#include <fmt/format.h>
#include <array>
#include <bit>
#include <charconv>
#include <cstddef>

namespace kaio::emulator {
namespace {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
constexpr bool is_follow(char c) { return is_digit(c) || is_letter(c) || c == '_' || c == '$'; }

constexpr int hex_value(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return 99;
}

constexpr std::array<std::string_view, 8> long_operators = {"<<", ">>", "<=", ">=", "==", "!=", "&&", "||"};
constexpr std::string_view short_operators = ",;:{}[]()<>@!|+-*/%&^~?=";

}  // namespace

void lexer::advance(std::size_t count) {
  for (std::size_t i = 0; i < count && at_ < text_.size(); ++i, ++at_) {
    if (text_[at_] == '\n') {
      ++place_.line;
      place_.column = 1;
    } else {
      ++place_.column;
    }
  }
}

token lexer::take(token_kind kind, std::size_t length) {
  token t{kind, text_.substr(at_, length), place_};
  advance(length);
  return t;
}

void lexer::skip_blank() {
  for (;;) {
    const char c = peek();
    if (at_ >= text_.size()) return;
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v') {
      advance(1);
    } else if (c == '/' && peek(1) == '/') {
      const std::size_t end = text_.find('\n', at_);
      advance((end == std::string_view::npos ? text_.size() : end) - at_);
    } else if (c == '/' && peek(1) == '*') {
      const std::size_t end = text_.find("*/", at_ + 2);
      if (end == std::string_view::npos) throw ptx_error(place_.line, place_.column, "comment is not closed");
      advance(end + 2 - at_);
    } else if (const std::size_t length = c == '#' ? line_marker() : 0; length != 0) {
      advance(length);
    } else {
      return;
    }
  }
}

// The length of a preprocessor's line marker, up to the end of the line: `# 12 "kernel.cu" 1` or `#line 12
// "kernel.cu"`; 0 for anything else. Messages name the lines of the text itself.
std::size_t lexer::line_marker() const {
  std::size_t at = 1;
  const auto blanks = [&] {
    const std::size_t from = at;
    while (peek(at) == ' ' || peek(at) == '\t') ++at;
    return at != from;
  };
  blanks();
  if (text_.substr(at_ + at).starts_with("line")) {
    at += 4;
    if (!blanks()) return 0;
  }
  if (!is_digit(peek(at))) return 0;
  while (is_digit(peek(at))) ++at;
  if (!blanks() || peek(at) != '"') return 0;
  const std::size_t end = text_.find('\n', at_);
  return (end == std::string_view::npos ? text_.size() : end) - at_;
}

token lexer::next() {
  skip_blank();
  if (at_ >= text_.size()) return {token_kind::end, {}, place_};
  const char c = peek();

  if (is_letter(c) || ((c == '_' || c == '$' || c == '%') && is_follow(peek(1)))) {
    std::size_t length = 1;
    while (is_follow(peek(length))) ++length;
    return take(token_kind::identifier, length);
  }
  if (c == '_') return take(token_kind::identifier, 1);
  if (c == '.' && is_fraction()) return number();
  if (c == '.' && is_follow(peek(1))) {
    std::size_t length = 1;
    for (;;) {
      while (is_follow(peek(length))) ++length;
      if (peek(length) != ':' || peek(length + 1) != ':' || !is_follow(peek(length + 2))) break;
      length += 2;
    }
    return take(token_kind::dotted, length);
  }
  if (is_digit(c)) return number();
  if (c == '"') {
    const std::size_t end = text_.find_first_of("\"\n", at_ + 1);
    if (end == std::string_view::npos || text_[end] == '\n')
      throw ptx_error(place_.line, place_.column, "string is not closed");
    token t{token_kind::string, text_.substr(at_ + 1, end - at_ - 1), place_};
    advance(end + 1 - at_);
    return t;
  }
  for (std::string_view symbol : long_operators)
    if (text_.substr(at_, 2) == symbol) return take(token_kind::punctuation, 2);
  if (short_operators.find(c) != std::string_view::npos) return take(token_kind::punctuation, 1);
  const auto code = static_cast<unsigned char>(c);
  throw ptx_error(place_.line, place_.column,
                  code > 32 && code < 127 ? fmt::format("'{}' has no place in PTX", c)
                                          : fmt::format("byte {:#04x} has no place in PTX", code));
}

// True if an exponent follows the `e` at this place.
bool lexer::has_exponent(std::size_t at) const {
  const char sign = peek(at + 1);
  return is_digit(sign) || ((sign == '-' || sign == '+') && is_digit(peek(at + 2)));
}

// .5 is a number; .1d and .64B are modifiers.
bool lexer::is_fraction() const {
  std::size_t length = 1;
  while (is_digit(peek(length))) ++length;
  if (length == 1) return false;
  const bool exponent = peek(length) == 'e' || peek(length) == 'E';
  return exponent ? has_exponent(length) : !is_follow(peek(length));
}

token lexer::number() {
  const auto fail = [&](std::string_view why) -> ptx_error {
    return {place_.line, place_.column, std::string(why)};
  };
  const char kind = peek() == '0' ? peek(1) : '\0';

  if (kind == 'f' || kind == 'F' || kind == 'd' || kind == 'D') {  // 0f3F800000, 0d3FF0000000000000
    const bool single = kind == 'f' || kind == 'F';
    const std::size_t digits = single ? 8 : 16;
    u64 bits = 0;
    for (std::size_t i = 0; i < digits; ++i) {
      const int value = hex_value(peek(2 + i));
      if (value > 15)
        throw fail(single ? "a 0f literal has 8 hexadecimal digits"
                          : "a 0d literal has 16 hexadecimal digits");
      bits = bits << 4 | static_cast<u64>(value);
    }
    if (is_follow(peek(2 + digits)))
      throw fail(single ? "a 0f literal has 8 hexadecimal digits" : "a 0d literal has 16 hexadecimal digits");
    token t = take(token_kind::real, 2 + digits);
    t.bits = bits;
    t.real_bytes = single ? 4 : 8;
    return t;
  }

  std::size_t length = 0;
  while (is_digit(peek(length))) ++length;
  const bool exponent = (peek(length) == 'e' || peek(length) == 'E') && has_exponent(length);
  const char after = peek(length + 1);
  const bool point = peek(length) == '.' && ((!is_letter(after) && after != '_') ||
                                             ((after == 'e' || after == 'E') && has_exponent(length + 1)));
  if (point || exponent) {
    if (peek(length) == '.') ++length;
    while (is_digit(peek(length))) ++length;
    if (peek(length) == 'e' || peek(length) == 'E') {
      std::size_t tail = length + 1;
      if (peek(tail) == '-' || peek(tail) == '+') ++tail;
      if (!is_digit(peek(tail))) throw fail("the exponent has no digits");
      while (is_digit(peek(tail))) ++tail;
      length = tail;
    }
    if (is_follow(peek(length))) throw fail("a floating-point literal ends in a letter");
    double value = 0;
    const std::string_view digits = text_.substr(at_, length);
    const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (parsed.ec != std::errc{} || parsed.ptr != digits.data() + digits.size())
      throw fail("the floating-point literal is out of range");
    token t = take(token_kind::real, length);
    t.bits = std::bit_cast<u64>(value);
    t.real_bytes = 8;
    return t;
  }

  unsigned base = 10;
  std::size_t start = 0;
  if (kind == 'x' || kind == 'X') {
    base = 16, start = 2;
  } else if (kind == 'b' || kind == 'B') {
    base = 2, start = 2;
  } else if (is_digit(kind)) {
    base = 8, start = 1;
  }
  u64 value = 0;
  length = start;
  for (; hex_value(peek(length)) < static_cast<int>(base); ++length) {
    const auto digit = static_cast<u64>(hex_value(peek(length)));
    if (value > (~u64{0} - digit) / base) throw fail("the integer literal does not fit into 64 bits");
    value = value * base + digit;
  }
  if (length == start && base != 10 && base != 8) throw fail("the integer literal has no digits");
  const bool is_unsigned = peek(length) == 'U';
  const std::size_t end = length + (is_unsigned ? 1 : 0);
  if (is_follow(peek(end))) throw fail(fmt::format("'{}' is not a digit of this literal", peek(end)));
  token t = take(token_kind::integer, end);
  t.bits = value;
  t.is_unsigned = is_unsigned;
  return t;
}

}  // namespace kaio::emulator
