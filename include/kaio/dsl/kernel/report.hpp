#pragma once
// What the compiler prints for a kernel that breaks a rule about values. The trace keeps the first fault as data;
// here it becomes the text of a failed static_assert, in template arguments, since C++20 has no other texts
// that are computed: the file and line of the user's statement, and the message.
//
//   error: static assertion failed ... kernel_error_at<"scale.cpp:12", "kaio: a loop() that nothing leaves; ...">

#include <kaio/dsl/number/diagnostic.hpp>
#include <kaio/dsl/number/fixed_string.hpp>

#include <cstddef>
#include <cstdint>

namespace kaio::dsl {

namespace detail {

constexpr std::size_t length_of(const char* text) {
  std::size_t n = 0;
  while (text != nullptr && text[n] != '\0') ++n;
  return n;
}

inline constexpr std::size_t most_characters = 36;

// The file and line of a fault, "scale.cpp:12"; without the folders where it would be too long.
struct fault_place {
  char text[512] = {};
  std::size_t size = 0;

  constexpr fault_place(const kernel_fault& fault, bool shortened) {
    const std::size_t length = length_of(fault.file);
    std::size_t first = 0;
    for (std::size_t i = 0; shortened && length + 7 > most_characters && i < length; ++i)
      if (fault.file[i] == '/') first = i + 1;
    if (length - first + 12 > sizeof(text)) first = length;
    for (std::size_t i = first; i < length; ++i) text[size++] = fault.file[i];
    text[size++] = ':';
    char digits[10] = {};
    std::size_t count = 0;
    for (std::uint32_t rest = fault.line; rest != 0 || count == 0; rest /= 10)
      digits[count++] = static_cast<char>('0' + rest % 10);
    while (count != 0) text[size++] = digits[--count];
  }
};

// clang shortens the longer of these strings where it prints an error, but not in the notes.
template <const kernel_fault& Fault, bool Shortened>
inline constexpr auto place_text = [] {
#ifdef __clang__
  constexpr fault_place place(Fault, Shortened);
#else
  constexpr fault_place place(Fault, false);
#endif
  fixed_string<place.size + 1> text;
  for (std::size_t i = 0; i < place.size; ++i) text.data[i] = place.text[i];
  text.data[place.size] = '\0';  // clang prints an array whose last element was never written as numbers
  return text;
}();
template <const kernel_fault& Fault>
inline constexpr auto message_text = [] {
  fixed_string<length_of(Fault.message) + 1> text;
  for (std::size_t i = 0; Fault.message[i] != '\0'; ++i) text.data[i] = Fault.message[i];
  text.data[length_of(Fault.message)] = '\0';
  return text;
}();

}  // namespace detail

template <fixed_string Place, fixed_string Message>
inline constexpr bool kernel_error_at = false;

#ifdef __clang__
// clang prints the whole text of what a concept is given, in a note.
template <fixed_string Place, fixed_string Message>
concept kernel_without_fault = kernel_error_at<Place, Message>;
#endif

// `Place` may be shortened, `Full` is not.
template <fixed_string Place, fixed_string Full, fixed_string Message>
constexpr void report_at() {
  static_assert(kernel_error_at<Place, Message>, "kaio: the kernel breaks this rule, in this line");
#ifdef __clang__
  static_assert(kernel_without_fault<Full, Message>);
#endif
}

}  // namespace kaio::dsl
