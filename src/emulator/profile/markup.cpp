#include "emulator/profile/markup.hpp"

#include "host/printable.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>

namespace kaio::emulator::profile {
namespace {

constexpr std::string_view replacement = "\xef\xbf\xbd";  // U+FFFD

// Passes to `add` the characters that may need escaping: one-byte and control characters.
template <class Add>
std::string escaped(std::string_view text, Add&& add) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const host::character c = host::first_character(text);
    if (!c.is_valid)
      result += replacement;
    else if (c.bytes == 1 || c.is_control)
      add(result, c);
    else
      result += text.substr(0, c.bytes);
    text.remove_prefix(c.bytes);
  }
  return result;
}

}  // namespace

std::string html_escaped(std::string_view text) {
  return escaped(text, [](std::string& to, const host::character& c) {
    switch (c.point) {
      case '&': to += "&amp;"; break;
      case '<': to += "&lt;"; break;
      case '>': to += "&gt;"; break;
      case '"': to += "&quot;"; break;
      case '\'': to += "&#39;"; break;
      case '\t': to += "    "; break;
      default:
        if (c.is_control)
          to += replacement;
        else
          to += static_cast<char>(c.point);
    }
  });
}

std::string json_string(std::string_view text) {
  return '"' +
         escaped(text,
                 [](std::string& to, const host::character& c) {
                   switch (c.point) {
                     case '"': to += "\\\""; break;
                     case '\\': to += "\\\\"; break;
                     case '\n': to += "\\n"; break;
                     case '\r': to += "\\r"; break;
                     case '\t': to += "\\t"; break;
                     default:
                       if (c.is_control)
                         to += fmt::format("\\u{:04x}", static_cast<std::uint32_t>(c.point));
                       else
                         to += static_cast<char>(c.point);
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
