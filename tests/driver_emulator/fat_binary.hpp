#pragma once
// Fat binaries as nvcc writes them, and as it never would: every field of a header can be given.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace driver_emulator_test {

template <class Value>
void put(std::string& to, Value value) {
  to.append(reinterpret_cast<const char*>(&value), sizeof value);
}

inline constexpr std::uint32_t fat_magic = 0xba55ed50, wrapper_magic = 0x466243b1;
inline constexpr std::uint64_t plain_text = 0x11, lz4 = 0x2011, zstandard = 0x8011;

struct member {
  std::uint16_t kind;  // 1: PTX, 2: machine code
  std::uint32_t sm;
  std::string contents;  // as they are in the file
  std::uint64_t flags = plain_text;
  std::uint64_t plain_bytes = 0;  // of a compressed member
  std::uint32_t header_bytes = 64;
};

inline std::string member_bytes(const member& m) {
  std::string contents = m.contents, bytes;
  contents.resize((contents.size() + 8) / 8 * 8, '\0');
  put(bytes, m.kind);
  put(bytes, std::uint16_t{0x101});
  put(bytes, m.header_bytes);
  put(bytes, std::uint64_t{contents.size()});
  put(bytes, static_cast<std::uint32_t>(m.flags == plain_text ? 0 : m.contents.size()));
  put(bytes, std::uint32_t{0});
  put(bytes, std::uint32_t{0x00090000});
  put(bytes, m.sm);
  put(bytes, std::uint64_t{0});
  put(bytes, m.flags);
  put(bytes, std::uint64_t{0});
  put(bytes, m.plain_bytes);
  return bytes + contents;
}

inline std::string fat_header(std::uint64_t bytes, std::uint16_t header_bytes = 16) {
  std::string header;
  put(header, fat_magic);
  put(header, std::uint16_t{1});
  put(header, header_bytes);
  put(header, bytes);
  return header;
}

inline std::string fat_binary(const std::vector<member>& members) {
  std::string inside;
  for (const member& m : members) inside += member_bytes(m);
  return fat_header(inside.size()) + inside;
}

// An LZ4 block: literals, a match of `repeated` bytes from `back` before, and the rest as literals.
inline std::string lz4_block(std::string_view first, std::size_t back, std::size_t repeated,
                             std::string_view rest) {
  std::string block;
  const auto more = [&](std::size_t length) {
    if (length < 15) return;
    for (length -= 15; length >= 255; length -= 255) put(block, std::uint8_t{255});
    put(block, static_cast<std::uint8_t>(length));
  };
  const auto token = [&](std::size_t literals, std::size_t match) {
    put(block, static_cast<std::uint8_t>((literals < 15 ? literals : 15) << 4 | (match < 15 ? match : 15)));
    more(literals);
  };
  token(first.size(), repeated - 4);
  block += first;
  put(block, static_cast<std::uint16_t>(back));
  more(repeated - 4);
  token(rest.size(), 0);
  return block.append(rest);
}

// A text whose blanks at its end are a match that overlaps itself; it is `text` with 300 spaces.
inline member lz4_member(std::uint32_t sm, std::string_view text) {
  const std::string first = std::string(text) + ' ';
  return {1, sm, lz4_block(first, 1, 299, "\n"), lz4, first.size() + 300};
}

}  // namespace driver_emulator_test
