#include "tools/program/arguments.hpp"

#include "emulator/program/half.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <optional>

namespace kaio::tools {
namespace {

using emulator::bf16;
using emulator::f16;

enum class number_kind : std::uint8_t { natural, integer, bits, real, truth };

struct element_type {
  std::string_view name;
  unsigned bytes;
  number_kind kind;
  std::string_view npy;  // NumPy has no bf16: its bits are kept in u2
};

constexpr std::array<element_type, 21> element_types = {{
    {"u8", 1, number_kind::natural, "u1"},  {"u16", 2, number_kind::natural, "u2"},
    {"u32", 4, number_kind::natural, "u4"}, {"u64", 8, number_kind::natural, "u8"},
    {"s8", 1, number_kind::integer, "i1"},  {"s16", 2, number_kind::integer, "i2"},
    {"s32", 4, number_kind::integer, "i4"}, {"s64", 8, number_kind::integer, "i8"},
    {"i8", 1, number_kind::integer, "i1"},  {"i16", 2, number_kind::integer, "i2"},
    {"i32", 4, number_kind::integer, "i4"}, {"i64", 8, number_kind::integer, "i8"},
    {"b8", 1, number_kind::bits, "u1"},     {"b16", 2, number_kind::bits, "u2"},
    {"b32", 4, number_kind::bits, "u4"},    {"b64", 8, number_kind::bits, "u8"},
    {"f16", 2, number_kind::real, "f2"},    {"bf16", 2, number_kind::real, "u2"},
    {"f32", 4, number_kind::real, "f4"},    {"f64", 8, number_kind::real, "f8"},
    {"bool", 1, number_kind::truth, "b1"},
}};

constexpr std::uint64_t most_bytes = std::uint64_t{1} << 40;  // of one buffer

[[noreturn]] void refuse(const std::string& text, const std::string& why) {
  throw usage_error("kaio: --arg '" + text + "': " + why);
}

const element_type& type_named(const std::string& text, std::string_view name) {
  for (const element_type& t : element_types)
    if (t.name == name) return t;
  refuse(text, "there is no type '" + std::string(name) +
                   "'; write u8 to u64, s8 to s64, b8 to b64, f16, bf16, f32, f64 or bool");
}

// All bits of the magnitude, from decimal digits or 0x; nothing if it is no number or does not fit.
std::optional<std::uint64_t> natural(std::string_view digits) {
  const bool hexadecimal = digits.starts_with("0x") || digits.starts_with("0X");
  if (hexadecimal) digits.remove_prefix(2);
  std::uint64_t value = 0;
  const auto parsed =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, hexadecimal ? 16 : 10);
  if (parsed.ec != std::errc{} || parsed.ptr != digits.data() + digits.size() || digits.empty()) return {};
  return value;
}

std::uint64_t integer_bits(const std::string& text, std::string_view number, const element_type& t) {
  const bool negative = number.starts_with('-');
  const std::optional<std::uint64_t> magnitude = natural(number.substr(negative ? 1 : 0));
  const std::string name(t.name);
  if (!magnitude) refuse(text, "'" + std::string(number) + "' is not an integer");
  const unsigned bits = t.bytes * 8;
  const std::uint64_t all = bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
  const std::uint64_t half = std::uint64_t{1} << (bits - 1);
  const bool fits = negative ? t.kind != number_kind::natural && *magnitude <= half
                             : *magnitude <= (t.kind == number_kind::integer ? half - 1 : all);
  if (!fits) refuse(text, std::string(number) + " does not fit in " + name);
  return (negative ? ~*magnitude + 1 : *magnitude) & all;
}

// A number that rounds to infinity is a mistake, unless it is written as inf.
std::uint64_t real_bits(const std::string& text, std::string_view number, const element_type& t) {
  const std::string digits(number);
  char* end = nullptr;
  const auto require = [&](double rounded, std::uint64_t bits) {
    if (end != digits.c_str() + digits.size() || digits.empty())
      refuse(text, "'" + digits + "' is not a number");
    const bool written = digits.find_first_of("iI") != std::string::npos;
    if (std::isinf(rounded) && !written)
      refuse(text, digits + " does not fit in " + std::string(t.name) + "; infinity is written as inf");
    return bits;
  };
  if (t.name == "f32") {  // rounded once
    const float value = std::strtof(digits.c_str(), &end);
    return require(value, std::bit_cast<std::uint32_t>(value));
  }
  const double value = std::strtod(digits.c_str(), &end);
  if (t.name == "f16") {
    const f16 rounded = emulator::nearest<f16>(value);
    return require(emulator::value_of(rounded), rounded.bits);
  }
  if (t.name == "bf16") {
    const bf16 rounded = emulator::nearest<bf16>(value);
    return require(emulator::value_of(rounded), rounded.bits);
  }
  return require(value, std::bit_cast<std::uint64_t>(value));
}

std::vector<std::byte> low_bytes(std::uint64_t bits, unsigned bytes) {
  std::vector<std::byte> result(bytes);
  for (unsigned i = 0; i < bytes; ++i) result[i] = static_cast<std::byte>(bits >> (8 * i));
  return result;
}

std::vector<std::byte> value_of(const std::string& text, std::string_view number, const element_type& t) {
  if (t.kind == number_kind::truth) {
    if (number == "true" || number == "1") return low_bytes(1, 1);
    if (number == "false" || number == "0") return low_bytes(0, 1);
    refuse(text, "a bool is true or false");
  }
  return low_bytes(t.kind == number_kind::real ? real_bits(text, number, t) : integer_bits(text, number, t),
                   t.bytes);
}

// 0x00ff is the byte 0x00, then 0xff.
std::vector<std::byte> raw_bytes(const std::string& text, std::string_view digits) {
  if (digits.starts_with("0x")) digits.remove_prefix(2);
  if (digits.empty() || digits.size() % 2 != 0)
    refuse(text, "bytes need pairs of hexadecimal digits, as bytes:0x00ff");
  std::vector<std::byte> result;
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    unsigned value = 0;
    const auto parsed = std::from_chars(digits.data() + i, digits.data() + i + 2, value, 16);
    if (parsed.ec != std::errc{} || parsed.ptr != digits.data() + i + 2)
      refuse(text, "'" + std::string(digits.substr(i, 2)) + "' is not a hexadecimal byte");
    result.push_back(static_cast<std::byte>(value));
  }
  return result;
}

npy::array zeros(const std::string& text, const element_type& t, std::string_view extents) {
  npy::array a;
  a.type = t.npy;
  std::uint64_t bytes = t.bytes;
  for (;;) {
    const std::size_t cross = extents.find('x');
    const std::optional<std::uint64_t> extent = natural(extents.substr(0, cross));
    if (!extent) refuse(text, "the extents are written as 256 or 8x128");
    if (*extent != 0 && bytes > most_bytes / *extent) refuse(text, "the buffer would be larger than 1 TiB");
    bytes *= *extent;
    a.shape.push_back(*extent);
    if (cross == std::string_view::npos) break;
    extents.remove_prefix(cross + 1);
  }
  a.data.resize(bytes);
  return a;
}

npy::array file(const std::string& text, const std::string& path) {
  if (path.empty()) refuse(text, "the name of an .npy file is missing");
  try {
    return npy::read(path);
  } catch (const std::runtime_error& e) {
    throw usage_error(e.what());
  }
}

// One element as a number.
std::string shown(const std::byte* from, std::string_view type, std::string_view element) {
  const auto as = [&]<class T>(T value) {
    std::memcpy(&value, from, sizeof value);
    return value;
  };
  const auto real = [](double value, int digits) {
    std::array<char, 64> text{};
    const auto end =
        std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::general, digits);
    return std::string(text.data(), end.ptr);
  };
  if (element == "bf16") return real(emulator::value_of(bf16{as(std::uint16_t{})}), 4);
  if (type == "f2") return real(emulator::value_of(f16{as(std::uint16_t{})}), 5);
  if (type == "f4") return real(static_cast<double>(as(float{})), 9);
  if (type == "f8") return real(as(double{}), 17);
  if (type == "i1") return std::to_string(as(std::int8_t{}));
  if (type == "i2") return std::to_string(as(std::int16_t{}));
  if (type == "i4") return std::to_string(as(std::int32_t{}));
  if (type == "i8") return std::to_string(as(std::int64_t{}));
  if (type == "u2") return std::to_string(as(std::uint16_t{}));
  if (type == "u4") return std::to_string(as(std::uint32_t{}));
  if (type == "u8") return std::to_string(as(std::uint64_t{}));
  if (type == "b1") return as(std::uint8_t{}) != 0 ? "True" : "False";
  return std::to_string(as(std::uint8_t{}));
}

}  // namespace

argument parse_argument(const std::string& text) {
  argument a;
  a.text = text;
  const std::string_view all = text;
  if (all == "null") {
    a.value.assign(8, std::byte{0});
    return a;
  }
  const std::size_t colon = all.find(':');
  if (colon == std::string_view::npos)
    refuse(text, "it is neither VALUE:TYPE, as 3:u32, nor in:, out:, inout:, zeros:, bytes: or null");
  const std::string_view word = all.substr(0, colon), rest = all.substr(colon + 1);
  if (word == "bytes") {
    a.value = raw_bytes(text, rest);
  } else if (word == "in") {
    a.what = argument::kind::in;
    a.buffer = file(text, std::string(rest));
  } else if (word == "inout") {
    a.what = argument::kind::inout;
    const std::size_t next = rest.find(':');
    const std::string from(rest.substr(0, next));
    a.buffer = file(text, from);
    a.result = next == std::string_view::npos ? from : std::string(rest.substr(next + 1));
    if (a.result.empty()) refuse(text, "the name of the result is missing");
  } else if (word == "out" || word == "zeros") {
    const std::size_t last = rest.rfind(':');
    const std::size_t middle = last == std::string_view::npos || last == 0 ? last : rest.rfind(':', last - 1);
    const bool named = word == "out";
    if (last == std::string_view::npos || (named && (middle == std::string_view::npos || middle == 0)) ||
        (!named && middle != std::string_view::npos && last != 0))
      refuse(text, named ? "it is written as out:FILE:TYPE:EXTENTS, as out:y.npy:f32:8x128"
                         : "it is written as zeros:TYPE:EXTENTS, as zeros:f32:256");
    a.what = named ? argument::kind::out : argument::kind::zeros;
    if (named) a.result = std::string(rest.substr(0, middle));
    a.element = std::string(named ? rest.substr(middle + 1, last - middle - 1) : rest.substr(0, last));
    a.buffer = zeros(text, type_named(text, a.element), rest.substr(last + 1));
  } else {
    const std::size_t last = all.rfind(':');
    a.value = value_of(text, all.substr(0, last), type_named(text, all.substr(last + 1)));
  }
  return a;
}

std::string printed(const npy::array& a, std::string_view element) {
  std::string text;
  const std::size_t bytes = a.element_bytes();
  const std::uint64_t row = a.shape.empty() || a.shape.back() == 0 ? 1 : a.shape.back();
  for (std::uint64_t i = 0; i < a.elements(); ++i) {
    text += shown(a.data.data() + i * bytes, a.type, element);
    text += (i + 1) % row == 0 ? '\n' : ' ';
  }
  return text;
}

}  // namespace kaio::tools
