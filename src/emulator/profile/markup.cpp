#include "emulator/profile/markup.hpp"

#include <fmt/format.h>

#include <cmath>

namespace kaio::emulator::profile {
namespace {

constexpr std::string_view replacement = "\xef\xbf\xbd";  // U+FFFD

// How many bytes the character at the start of a text has; 0 if it is not UTF-8. Source: Unicode 15, table
// 3-7.
std::size_t character_bytes(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<u8>(text[i]) : u8{0}; };
  const auto within = [&](std::size_t i, unsigned low, unsigned high) {
    return byte(i) >= low && byte(i) <= high;
  };
  const auto tail = [&](std::size_t i) { return within(i, 0x80, 0xbf); };
  const u8 first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return tail(1) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef) {
    const bool second = first == 0xe0   ? within(1, 0xa0, 0xbf)
                        : first == 0xed ? within(1, 0x80, 0x9f)
                                        : tail(1);
    return second && tail(2) ? 3 : 0;
  }
  if (first >= 0xf0 && first <= 0xf4) {
    const bool second = first == 0xf0   ? within(1, 0x90, 0xbf)
                        : first == 0xf4 ? within(1, 0x80, 0x8f)
                                        : tail(1);
    return second && tail(2) && tail(3) ? 4 : 0;
  }
  return 0;
}

template <class Ascii>
std::string escaped(std::string_view text, Ascii&& ascii) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const std::size_t bytes = character_bytes(text);
    if (bytes == 0)
      result += replacement;
    else if (bytes == 1)
      ascii(result, text.front());
    else
      result += text.substr(0, bytes);
    text.remove_prefix(bytes == 0 ? 1 : bytes);
  }
  return result;
}

bool is_control(char c) { return static_cast<u8>(c) < 0x20; }

}  // namespace

std::string html_escaped(std::string_view text) {
  return escaped(text, [](std::string& to, char c) {
    switch (c) {
      case '&': to += "&amp;"; break;
      case '<': to += "&lt;"; break;
      case '>': to += "&gt;"; break;
      case '"': to += "&quot;"; break;
      case '\'': to += "&#39;"; break;
      case '\t': to += "    "; break;
      default:
        if (is_control(c) && c != '\n')
          to += replacement;
        else
          to += c;
    }
  });
}

std::string json_string(std::string_view text) {
  return '"' +
         escaped(text,
                 [](std::string& to, char c) {
                   switch (c) {
                     case '"': to += "\\\""; break;
                     case '\\': to += "\\\\"; break;
                     case '\n': to += "\\n"; break;
                     case '\r': to += "\\r"; break;
                     case '\t': to += "\\t"; break;
                     default:
                       if (is_control(c))
                         to += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
                       else
                         to += c;
                   }
                 }) +
         '"';
}

void json_writer::separate() {
  if (!first_) text_ += ',';
  first_ = false;
}

json_writer& json_writer::open(char bracket) {
  separate();
  text_ += bracket;
  first_ = true;
  return *this;
}

json_writer& json_writer::close(char bracket) {
  text_ += bracket;
  first_ = false;
  return *this;
}

json_writer& json_writer::key(std::string_view name) {
  separate();
  text_ += json_string(name) + ':';
  first_ = true;
  return *this;
}

json_writer& json_writer::value(std::string_view text) {
  separate();
  text_ += json_string(text);
  return *this;
}

json_writer& json_writer::value(u64 number) {
  separate();
  text_ += std::to_string(number);
  return *this;
}

json_writer& json_writer::value(double number) {
  if (!std::isfinite(number)) return null();
  separate();
  text_ += fmt::format("{}", number);
  return *this;
}

json_writer& json_writer::null() {
  separate();
  text_ += "null";
  return *this;
}

}  // namespace kaio::emulator::profile
