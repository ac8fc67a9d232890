#pragma once
// The format of device_print, checked against the types of its arguments while the kernel is compiled. It may use what
// the device's printf knows: %[flags][width][.precision][h|l|ll]conversion, without `*`.
// Source: CUDA C++ Programming Guide, "Formatted Output".

#include <kaio/dsl/expression/expression.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kaio::dsl {

namespace detail {

// The type that an argument is printed from: that of the device value, or of the host's number.
template <class A>
struct printed {
  using type = A;
};
template <device A>
struct printed<A> {
  using type = element<A>;
};
template <>
struct printed<char> {
  using type = i8;
};
template <class A>
using printed_type = typename printed<A>::type;

// The error for an argument of this type whose conversion does not fit.
constexpr const char* wrong_conversion(ptx::type t) {
  switch (t) {
    case ptx::type::s8:
    case ptx::type::u8:
      return "kaio: the argument of this conversion is an integer of 8 bits; write %d (i8), %u (u8) or %c";
    case ptx::type::s16:
    case ptx::type::s32:
      return "kaio: the argument of this conversion is a signed integer of up to 32 bits; write %d";
    case ptx::type::u16:
    case ptx::type::u32:
      return "kaio: the argument of this conversion is an unsigned integer of up to 32 bits; write %u, %x or %o";
    case ptx::type::s64: return "kaio: the argument of this conversion is an i64; write %lld";
    case ptx::type::u64:
      return "kaio: the argument of this conversion is a u64; write %llu, %llx, %llo or %p";
    case ptx::type::pred: return "kaio: a bool is not printed; write cast<u32>(condition) and %u";
    case ptx::type::b8: return "kaio: e4m3 and e5m2 are not printed; write cast<f32>(x) and %f";
    case ptx::type::f16x2:
    case ptx::type::bf16x2: return "kaio: a pair is not printed; print its halves";
    default: return "kaio: the argument of this conversion is a float; write %f, %e, %g or %a";
  }
}

struct conversion_specifier {
  char letter = 0;
  unsigned longs = 0;  // l, ll
  bool half = false;   // h
};

constexpr bool is_one_of(char c, std::string_view set) {
  for (const char one : set)
    if (c == one) return true;
  return false;
}

constexpr bool fits(const conversion_specifier& s, ptx::type t) {
  const bool is_word = ptx::is_integer(t) && ptx::size_of(t) <= 4;
  const bool is_wide = ptx::is_integer(t) && ptx::size_of(t) == 8;
  const bool plain = s.longs == 0 && !s.half;
  switch (s.letter) {
    case 'd':
    case 'i': return ptx::is_signed(t) && (s.longs == 0 ? is_word : is_wide && !s.half);
    case 'u':
    case 'x':
    case 'X':
    case 'o': return ptx::is_unsigned(t) && (s.longs == 0 ? is_word : is_wide && !s.half);
    case 'c': return plain && ((ptx::size_of(t) == 1 && t != ptx::type::b8) || t == ptx::type::s32);
    case 'p': return plain && t == ptx::type::u64;
    default: return plain && ptx::is_floating(t) && !ptx::is_packed(t);
  }
}

constexpr conversion_specifier next_specifier(std::string_view text, std::size_t& at) {
  const auto peek = [&] { return at < text.size() ? text[at] : '\0'; };
  while (is_one_of(peek(), "-+ #0")) ++at;
  while (is_one_of(peek(), "0123456789")) ++at;
  if (peek() == '.') ++at;
  while (is_one_of(peek(), "0123456789")) ++at;
  conversion_specifier s;
  if (peek() == 'h') {
    s.half = true;
    ++at;
  }
  for (; peek() == 'l' && s.longs != 2; ++at) ++s.longs;
  s.letter = peek();
  return s;
}

// The error in a format; nullptr: none.
constexpr const char* fault_of_format(std::string_view text, const ptx::type* arguments, unsigned count) {
  unsigned taken = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\0') return "kaio: the format of device_print has a zero character in it";
    if (text[at] != '%') continue;
    ++at;
    if (at < text.size() && text[at] == '%') continue;
    const conversion_specifier s = next_specifier(text, at);
    if (s.letter == 's') return "kaio: device_print has no %s; write the text into the format";
    if (s.letter == '*') return "kaio: device_print has no * for a width; write the number into the format";
    if (!is_one_of(s.letter, "diuoxXceEfgGaAp"))
      return "kaio: device_print knows %d %i %u %o %x %X %c %e %E %f %g %G %a %A %p and %%, with h, l or ll";
    if (taken == count) return "kaio: the format of device_print has more conversions than arguments";
    if (!fits(s, arguments[taken])) return wrong_conversion(arguments[taken]);
    ++taken;
  }
  if (taken != count) return "kaio: device_print has more arguments than its format has conversions";
  return nullptr;
}

}  // namespace detail

// A format, checked for arguments of types A, and its C++ line.
template <class... A>
class print_format {
 public:
  template <std::size_t N>
  consteval print_format(const char (&text)[N], std::uint32_t line = __builtin_LINE(),
                         const char* file = __builtin_FILE())
      : text_(text), size_(N - 1), line_(line), file_(file) {
    static_assert((scalar<detail::printed_type<A>> && ...),
                  "kaio: device_print takes device values and numbers; write a text into the format");
    static_assert(sizeof...(A) <= 32, "kaio: device_print takes at most 32 arguments; print twice");
    const ptx::type types[] = {ptx_type<detail::printed_type<A>>..., ptx::type::none};
    fault_ = detail::fault_of_format({text, N - 1}, types, sizeof...(A));
  }

  constexpr std::string_view text() const { return {text_, size_}; }
  constexpr std::uint32_t line() const { return line_; }
  constexpr const char* file() const { return file_; }
  constexpr const char* fault() const { return fault_; }

 private:
  const char* text_;
  std::size_t size_;
  std::uint32_t line_;
  const char* file_;
  const char* fault_ = nullptr;
};

}  // namespace kaio::dsl
