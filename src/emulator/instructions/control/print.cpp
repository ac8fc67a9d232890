#include "emulator/instructions/control/print.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>

namespace kaio::emulator {
namespace {

constexpr int widest = 1 << 16;

// %[flags][width][.precision][length]type
struct conversion {
  std::string flags;
  int width = -1, precision = -1;
  bool is_long = false;
  char type = '\0';
};

class formatter {
 public:
  formatter(std::string& out, std::string_view format, const print_source& source)
      : out_(out), rest_(format), source_(source) {}

  u32 run() {
    while (!rest_.empty()) {
      const std::size_t literal = std::min(rest_.find('%'), rest_.size());
      out_ += rest_.substr(0, literal);
      rest_.remove_prefix(literal);
      if (!rest_.empty()) one();
    }
    return taken_;
  }

 private:
  char peek() const { return rest_.empty() ? '\0' : rest_.front(); }
  char take() {
    const char c = peek();
    if (!rest_.empty()) rest_.remove_prefix(1);
    return c;
  }
  u64 next(u32 bytes) {
    ++taken_;
    return source_.next(bytes);
  }

  int number() {
    if (peek() == '*') {
      take();
      return static_cast<int>(static_cast<u32>(next(4)));
    }
    int value = 0;
    while (peek() >= '0' && peek() <= '9') value = std::min(value * 10 + (take() - '0'), widest);
    return value;
  }

  void one() {
    const std::string_view start = rest_;
    take();  // %
    conversion c;
    while (std::string_view("-+ #0").find(peek()) != std::string_view::npos && peek() != '\0')
      c.flags += take();
    if (peek() == '*' || (peek() >= '1' && peek() <= '9')) {
      c.width = std::clamp(number(), -widest, widest);
      if (c.width < 0) {  // as in C: left-aligned
        c.flags += '-';
        c.width = -c.width;
      }
    }
    if (peek() == '.') {
      take();
      c.precision = std::min(number(), widest);
    }
    while (peek() == 'h' || peek() == 'l' || peek() == 'j' || peek() == 'z' || peek() == 't')
      c.is_long = take() != 'h' || c.is_long;
    c.type = take();
    if (!convert(c)) out_ += start.substr(0, start.size() - rest_.size());
  }

  template <class T>
  bool put(const conversion& c, const char* length, T value) {
    std::string spec(1, '%');
    spec += c.flags;
    if (c.width >= 0) spec += std::to_string(c.width);
    if (c.precision >= 0) spec.append(1, '.').append(std::to_string(c.precision));
    spec += length;
    spec += c.type;
    const int size = std::snprintf(nullptr, 0, spec.c_str(), value);
    if (size <= 0) return size == 0;
    const std::size_t before = out_.size();
    out_.resize(before + static_cast<std::size_t>(size) + 1);
    std::snprintf(out_.data() + before, static_cast<std::size_t>(size) + 1, spec.c_str(), value);
    out_.pop_back();
    return true;
  }

  bool convert(const conversion& c) {
    switch (c.type) {
      case '%': out_ += '%'; return true;
      case 'd':
      case 'i':
        return c.is_long ? put(c, "ll", static_cast<long long>(next(8)))
                         : put(c, "", static_cast<int>(static_cast<u32>(next(4))));
      case 'u':
      case 'x':
      case 'X':
      case 'o':
        return c.is_long ? put(c, "ll", static_cast<unsigned long long>(next(8)))
                         : put(c, "", static_cast<unsigned>(next(4)));
      case 'c': return character(c, static_cast<char>(next(4)));
      case 'e':
      case 'E':
      case 'f':
      case 'F':
      case 'g':
      case 'G':
      case 'a':
      case 'A': return put(c, "", std::bit_cast<f64>(next(8)));
      case 's': return text(c, source_.text(next(8)));
      case 'p': {
        conversion number = c;
        number.flags += '#';
        number.type = 'x';
        const u64 address = next(8);
        if (address != 0) return put(number, "ll", static_cast<unsigned long long>(address));
        return text(c, "0x0");
      }
      default: return false;
    }
  }

  // A character may be '\0'; the precision cuts a text.
  bool character(const conversion& c, char value) { return padded(c, std::string(1, value)); }
  bool text(const conversion& c, std::string value) {
    if (c.precision >= 0 && c.type == 's')
      value.resize(std::min(value.size(), static_cast<std::size_t>(c.precision)));
    return padded(c, value);
  }
  bool padded(const conversion& c, const std::string& value) {
    const auto width = static_cast<std::size_t>(std::max(c.width, 0));
    const std::string blank(width > value.size() ? width - value.size() : 0, ' ');
    const bool left = c.flags.find('-') != std::string::npos;
    out_ += left ? value + blank : blank + value;
    return true;
  }

  std::string& out_;
  std::string_view rest_;
  const print_source& source_;
  u32 taken_ = 0;
};

}  // namespace

u32 print_formatted(std::string& out, std::string_view format, const print_source& source) {
  return formatter(out, format, source).run();
}

}  // namespace kaio::emulator
