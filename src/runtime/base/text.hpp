#pragma once
// Joins pieces of text and numbers: how the runtime builds an error's message, which happens only when
// something fails.
//
//   text("kaio: kernel ", name, " takes ", count, " arguments")

#include <string>
#include <string_view>
#include <type_traits>

namespace kaio::runtime {

namespace detail {
template <class Piece>
void append(std::string& to, const Piece& piece) {
  if constexpr (std::is_convertible_v<const Piece&, std::string_view>) {
    to += std::string_view(piece);
  } else if constexpr (std::is_same_v<Piece, char>) {
    to += piece;
  } else {
    to += std::to_string(piece);
  }
}
}  // namespace detail

template <class... Pieces>
std::string text(const Pieces&... pieces) {
  std::string joined;
  (detail::append(joined, pieces), ...);
  return joined;
}

// The text of a message that becomes a part of another one: without "kaio: ".
inline std::string_view without_prefix(std::string_view message) {
  return message.substr(message.starts_with("kaio: ") ? 6 : 0);
}

// "0x7f00": addresses.
std::string hexadecimal(unsigned long long value);
// "1.50 GB": sizes, in powers of 1000 as the vendors count.
std::string readable_bytes(unsigned long long bytes);

}  // namespace kaio::runtime
