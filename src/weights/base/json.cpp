#include "weights/base/json.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <ranges>

#include "host/printable.hpp"
#include "runtime/base/text.hpp"

namespace kaio::weights {
namespace {

using kind = json::kind;

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

void append_utf8(std::string& to, std::uint32_t point) {
  const auto put = [&](std::uint32_t byte) { to += static_cast<char>(byte); };
  if (point < 0x80) return put(point);
  if (point < 0x800) {
    put(0xc0 | point >> 6);
  } else {
    if (point < 0x10000) {
      put(0xe0 | point >> 12);
    } else {
      put(0xf0 | point >> 18);
      put(0x80 | (point >> 12 & 0x3f));
    }
    put(0x80 | (point >> 6 & 0x3f));
  }
  put(0x80 | (point & 0x3f));
}

// A recursive parser: the nesting must be bounded, also for the destructor of the tree, which recurses too.
class json_parser {
 public:
  json_parser(std::string_view text, json_dialect dialect)
      : text_(text), is_python_(dialect == json_dialect::python) {}

  json whole() {
    json result = value();
    skip_space();
    if (at_ != text_.size()) fail();
    return result;
  }

 private:
  [[noreturn]] void fail() const {
    throw json_error(runtime::text("is no JSON from its byte ", at_ + 1, " on"));
  }

  char next() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool take(std::string_view wanted) {
    if (!text_.substr(at_).starts_with(wanted)) return false;
    at_ += wanted.size();
    return true;
  }
  void skip_space() { at_ = std::min(text_.find_first_not_of(" \t\n\r", at_), text_.size()); }
  void need(char c) {
    skip_space();
    if (!take({&c, 1})) fail();
  }

  json value() {
    skip_space();
    switch (next()) {
      case '{': return nested(&json_parser::object);
      case '[': return nested(&json_parser::array);
      case '"': return {.is = kind::string, .text = string()};
      default: break;
    }
    if (take("null")) return {};
    if (take("true")) return {.is = kind::boolean, .boolean = true};
    if (take("false")) return {.is = kind::boolean};
    if (is_python_) {
      constexpr double infinite = std::numeric_limits<double>::infinity();
      if (take("NaN")) return {.is = kind::other_number, .real = std::numeric_limits<double>::quiet_NaN()};
      if (take("Infinity")) return {.is = kind::other_number, .real = infinite};
      if (take("-Infinity")) return {.is = kind::other_number, .real = -infinite};
    }
    return number();
  }

  json nested(json (json_parser::*inside)()) {
    const unsigned deepest = is_python_ ? 900 : 127;
    if (++depth_ > deepest) throw json_error(runtime::text("is nested more than ", deepest, " levels deep"));
    ++at_;
    json result = (this->*inside)();
    --depth_;
    return result;
  }

  json object() {
    json result{.is = kind::object};
    skip_space();
    if (take("}")) return result;
    do {
      skip_space();
      if (next() != '"') fail();
      std::string key = string();
      need(':');
      result.members.emplace_back(std::move(key), value());
      skip_space();
    } while (take(","));
    need('}');
    return result;
  }

  json array() {
    json result{.is = kind::array};
    skip_space();
    if (take("]")) return result;
    do {
      result.items.push_back(value());
      skip_space();
    } while (take(","));
    need(']');
    return result;
  }

  std::string string() {
    std::string result;
    for (++at_;;) {
      const char c = next();
      if (static_cast<unsigned char>(c) < 0x20) fail();  // the end of the text too
      if (take("\"")) return result;
      if (take("\\")) {
        escape(result);
        continue;
      }
      const std::size_t bytes = static_cast<unsigned char>(c) < 0x80 ? 1 : character();
      result += text_.substr(at_, bytes);
      at_ += bytes;
    }
  }

  std::size_t character() const {
    const host::character first = host::first_character(text_.substr(at_));
    if (!first.is_valid) fail();
    return first.bytes;
  }

  void escape(std::string& to) {
    constexpr std::string_view names = "\"\\/bfnrt", meanings = "\"\\/\b\f\n\r\t";
    if (take("u")) return append_utf8(to, point());
    const std::size_t known = at_ < text_.size() ? names.find(text_[at_]) : std::string_view::npos;
    if (known == std::string_view::npos) fail();
    to += meanings[known];
    ++at_;
  }

  std::uint32_t hexadecimal() {
    std::uint32_t digits = 0;
    const std::string_view four = text_.substr(at_, 4);
    const auto [end, error] = std::from_chars(four.data(), four.data() + four.size(), digits, 16);
    if (error != std::errc() || end != four.data() + 4) fail();
    at_ += 4;
    return digits;
  }

  // The character of \uXXXX, or of a pair of surrogates.
  std::uint32_t point() {
    const std::uint32_t first = hexadecimal();
    if (first < 0xd800 || first > 0xdfff) return first;
    const std::size_t after = at_;
    if (first < 0xdc00 && take("\\u"))
      if (const std::uint32_t second = hexadecimal(); second >= 0xdc00 && second <= 0xdfff)
        return 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
    if (!is_python_) fail();
    at_ = after;
    return 0xfffd;
  }

  // Reads one or more digits.
  std::string_view digits() {
    const std::size_t begin = at_;
    while (is_digit(next())) ++at_;
    if (at_ == begin) fail();
    return text_.substr(begin, at_ - begin);
  }

  json number() {
    const std::size_t begin = at_;
    const bool is_negative = take("-");
    const std::string_view whole = next() == '0' ? text_.substr(at_++, 1) : digits();
    bool is_whole = true;
    if (take(".")) {
      is_whole = false;
      digits();
    }
    if (next() == 'e' || next() == 'E') {
      is_whole = false;
      ++at_;
      if (next() == '+' || next() == '-') ++at_;
      digits();
    }
    if (is_whole)
      if (const auto exact = exact_number(whole, is_negative)) return *exact;
    return {.is = kind::other_number, .real = real(text_.substr(begin, at_ - begin))};
  }

  static std::optional<json> exact_number(std::string_view digits, bool is_negative) {
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    const std::uint64_t most =
        is_negative ? std::uint64_t{1} << 63 : std::numeric_limits<std::uint64_t>::max();
    if (error != std::errc() || number > most || (is_negative && number == 0)) return std::nullopt;
    return json{.is = is_negative ? kind::negative_number : kind::unsigned_number, .number = number};
  }

  double real(std::string_view number) const {
    double result = 0;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), result);
    if (error != std::errc::result_out_of_range) return result;
    if (!is_large(number)) return 0;
    if (!is_python_)
      throw json_error(runtime::text("has the number ", number.substr(0, 32), ", which is out of range"));
    return number[0] == '-' ? -std::numeric_limits<double>::infinity()
                            : std::numeric_limits<double>::infinity();
  }

  // Whether a number that f64 cannot hold is too large, rather than too small.
  static bool is_large(std::string_view number) {
    const std::size_t e = number.find_first_of("eE");
    const std::string_view digits = number.substr(0, e);
    const std::size_t dot = std::min(digits.find('.'), digits.size()),
                      first = digits.find_first_of("123456789");
    if (first == std::string_view::npos) return false;
    std::int64_t exponent = 0;
    if (e != std::string_view::npos) {
      const std::string_view power = number.substr(number[e + 1] == '+' ? e + 2 : e + 1);
      const auto [end, error] = std::from_chars(power.data(), power.data() + power.size(), exponent);
      if (error == std::errc::result_out_of_range) return power[0] != '-';
    }
    const auto places = static_cast<std::int64_t>(dot) - static_cast<std::int64_t>(first);
    return std::clamp<std::int64_t>(exponent, -longest, longest) + places > 0;
  }

  static constexpr std::int64_t longest = std::int64_t{1} << 40;  // more than a text has places
  std::string_view text_;
  bool is_python_;
  std::size_t at_ = 0;
  unsigned depth_ = 0;
};

}  // namespace

const json* json::find(std::string_view key) const noexcept {
  for (const auto& [name, value] : members | std::views::reverse)
    if (name == key) return &value;
  return nullptr;
}

std::string_view json::text_of(std::string_view key, std::string_view otherwise) const noexcept {
  const json* const found = find(key);
  return found && found->is_string() ? std::string_view(found->text) : otherwise;
}

std::uint64_t json::number_of(std::string_view key, std::uint64_t otherwise) const noexcept {
  const json* const found = find(key);
  return found && found->is_unsigned() ? found->number : otherwise;
}

bool json::truth_of(std::string_view key, bool otherwise) const noexcept {
  const json* const found = find(key);
  return found && found->is == kind::boolean ? found->boolean : otherwise;
}

double json::real_of(std::string_view key, double otherwise) const noexcept {
  const json* const found = find(key);
  if (!found) return otherwise;
  switch (found->is) {
    case kind::unsigned_number: return static_cast<double>(found->number);
    case kind::negative_number: return -static_cast<double>(found->number);
    case kind::other_number: return found->real;
    default: return otherwise;
  }
}

std::map<std::string_view, const json*> by_name(const json& object) {
  std::map<std::string_view, const json*> members;
  for (const auto& [name, value] : object.members) members[name] = &value;
  return members;
}

json parse_json(std::string_view text, json_dialect dialect) { return json_parser(text, dialect).whole(); }

}  // namespace kaio::weights
