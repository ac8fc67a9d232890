#pragma once
// Text of files and programs for a terminal: an escape sequence in a kernel's name must not act on it.
//
//   host::printable("\x1b[31mred")  ->  \x1b[31mred
//
// These become \xNN: control characters except the end of a line and the tabulator; bytes that are not UTF-8; Unicode's
// control characters (U+0080 to U+009F) and those that turn the direction of writing. All other text stays. The messages
// of kaio's errors are made printable when they are made. The output of a kernel is not: it is the program's own.

#include <cstddef>
#include <string>
#include <string_view>

namespace kaio::host {

// The character that a text, which is not empty, begins with.
struct character {
  std::size_t bytes = 1;
  char32_t point = 0;
  bool is_valid = false;    // UTF-8; otherwise it is one byte
  bool is_control = false;  // a terminal may act on it
};
character first_character(std::string_view text);

std::string printable(std::string_view text);

}  // namespace kaio::host
