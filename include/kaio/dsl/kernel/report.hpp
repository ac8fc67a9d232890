#pragma once
// The compiler's message for a kernel that breaks a rule about values. The trace keeps the first fault as data: the file
// and line of the user's statement, and the message. Here they become template arguments in the text of an error: C++20
// prints no other computed text.
//
//   g++     error: invalid application of 'sizeof' to incomplete type 'kernel_breaks_rule<"scale.cpp:12", "kaio: a loop() ...">'
//   clang   error: static assertion failed due to requirement 'kernel_breaks_rule<"scale.cpp:12", "kaio: a loop() ...">'

#include <kaio/dsl/number/diagnostic.hpp>
#include <kaio/dsl/number/fixed_string.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace kaio::dsl {

namespace detail {

constexpr std::size_t length_of(const char* text) {
  std::size_t n = 0;
  while (text != nullptr && text[n] != '\0') ++n;
  return n;
}

inline constexpr std::size_t most_characters = 36;

// The file and line of a fault, "scale.cpp:12"; without the folders if it would be too long.
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

// clang shortens strings of more than most_characters in an error, but not in its notes: a place loses its folders, and a
// message is cut into pieces.
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

// The words of a message from `first` on that clang prints in full in an error.
constexpr std::size_t end_of_piece(const char* message, std::size_t first) {
  const std::size_t length = length_of(message);
  if (length - first <= most_characters) return length;
  std::size_t end = first + most_characters;
  while (end > first && message[end - 1] != ' ') --end;
  return end == first ? first + most_characters : end;
}
constexpr std::size_t piece_count(const char* message) {
  std::size_t count = 0;
  for (std::size_t at = 0; message[at] != '\0'; at = end_of_piece(message, at)) ++count;
  return count;
}
template <const kernel_fault& Fault, std::size_t I>
inline constexpr auto message_piece = [] {
  constexpr std::size_t first = [] {
    std::size_t at = 0;
    for (std::size_t i = 0; i < I; ++i) at = end_of_piece(Fault.message, at);
    return at;
  }();
  constexpr std::size_t size = end_of_piece(Fault.message, first) - first;
  fixed_string<size + 1> text;
  for (std::size_t i = 0; i < size; ++i) text.data[i] = Fault.message[first + i];
  text.data[size] = '\0';
  return text;
}();

}  // namespace detail

#ifdef __clang__

template <fixed_string Place, fixed_string... Message>
inline constexpr bool kernel_breaks_rule = false;  // a failed requirement names it
// clang prints the arguments of a concept in full, in a note.
template <fixed_string Place, fixed_string Message>
concept kernel_without_fault = kernel_breaks_rule<Place, Message>;

// Templates of the texts, not of the fault: clang prints a requirement with the arguments of its template.
template <fixed_string Place, fixed_string... Message>
constexpr void report_pieces() {
  static_assert(kernel_breaks_rule<Place, Message...>, "kaio: the kernel breaks this rule, in this line");
}
template <fixed_string Place, fixed_string Message>
constexpr void report_whole() {
  static_assert(kernel_without_fault<Place, Message>);
}
template <const kernel_fault& Fault, std::size_t... I>
constexpr void report(std::index_sequence<I...>) {
  report_pieces<detail::place_text<Fault, true>, detail::message_piece<Fault, I>...>();
  report_whole<detail::place_text<Fault, false>, detail::message_text<Fault>>();
}

#else

// Has no definition: an error about its size names the type.
template <fixed_string Place, fixed_string Message>
struct kernel_breaks_rule;

template <const kernel_fault& Fault, std::size_t... I>
constexpr void report(std::index_sequence<I...>) {
  static_assert(sizeof(kernel_breaks_rule<detail::place_text<Fault, false>, detail::message_text<Fault>>) !=
                0);
}

#endif

}  // namespace kaio::dsl
