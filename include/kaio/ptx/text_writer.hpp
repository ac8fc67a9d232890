#pragma once
// Text that is written while the compiler runs, eight characters at a time. Compilers need as long for a step
// on a character as for one on a word of 64 bits. A bit cast turns the finished words into an array of
// characters. The first character is in the lowest byte, as in the memory of a little-endian host.
//
//   text_writer out(storage);
//   out.put(packed(".reg "));
//   out.number(128);

#include <kaio/ptx/standard.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kaio::ptx {

static_assert(std::endian::native == std::endian::little,
              "kaio: the text of kernels is packed for little-endian hosts");

// A short text, packed.
struct packed_text {
  static constexpr std::size_t max_words = 5;
  std::uint64_t words[max_words] = {};
  std::uint32_t bits = 0;  // 8 for each character
};

constexpr packed_text packed(std::string_view text) {
  packed_text result;
  const char* const from = text.data();
  const std::size_t size = text.size();
  for (std::size_t i = 0; i < size; i += 8) {
    std::uint64_t word = 0;
    for (std::size_t k = size - i < 8 ? size : i + 8; k-- != i;)
      word = word << 8 | static_cast<unsigned char>(from[k]);
    result.words[i / 8] = word;
  }
  result.bits = static_cast<std::uint32_t>(8 * size);
  return result;
}

class text_writer {
 public:
  constexpr explicit text_writer(std::uint64_t* storage) : words_(storage) {}

  // Up to eight characters: 8 bits each, and nothing above them.
  constexpr void put(std::uint64_t word, std::uint32_t bits) {
    const std::uint32_t fill = fill_;
    const std::uint64_t pending = pending_ | word << fill;
    if (fill + bits < 64) {
      pending_ = pending;
      fill_ = fill + bits;
    } else {
      words_[count_] = pending;
      count_ = count_ + 1;
      fill_ = fill + bits - 64;
      pending_ = fill == 0 ? 0 : word >> (64 - fill);
    }
  }
  constexpr void put(char c) { put(static_cast<unsigned char>(c), 8); }

  constexpr void put(const packed_text& text) {
    std::uint32_t bits = text.bits;
    std::size_t i = 0;
    for (; bits > 64; bits -= 64) put(text.words[i++], 64);
    if (bits != 0) put(text.words[i], bits);
  }

  constexpr void put(std::string_view text) {
    for (; text.size() > 32; text.remove_prefix(32)) put(packed(text.substr(0, 32)));
    put(packed(text));
  }

  constexpr void end_line() {
    put('\n');
    ++lines_;
  }

  // A number after `prefix`, which has up to four characters, 8 bits each.
  constexpr void number(std::uint64_t value, std::uint64_t prefix = 0, std::uint32_t prefix_bits = 0) {
    if (value >= 10000) {
      number(value / 10000, prefix, prefix_bits);
      const std::uint64_t rest = value % 10000;
      return put(0x30303030u + (rest / 1000 | rest / 100 % 10 << 8 | rest / 10 % 10 << 16 | rest % 10 << 24),
                 32);
    }
    std::uint64_t word = 0x30 + value % 10;
    std::uint32_t bits = 8;
    for (value /= 10; value != 0; value /= 10) {
      word = word << 8 | (0x30 + value % 10);
      bits += 8;
    }
    put(word << prefix_bits | prefix, bits + prefix_bits);
  }

  constexpr void signed_number(std::uint64_t bits) {
    if (static_cast<std::int64_t>(bits) >= 0) return number(bits);
    number(std::uint64_t{0} - bits, '-', 8);
  }

  // The lowest `digits` digits, up to eight, in capitals. Each half byte moves into a byte of its own, the
  // highest first; values above nine move on to the letters.
  constexpr void hexadecimal(std::uint64_t value, std::uint32_t digits) {
    std::uint64_t x = value & 0xffffffffu;
    x = (x << 16 | x) & 0x0000ffff0000ffffu;
    x = (x << 8 | x) & 0x00ff00ff00ff00ffu;
    x = (x << 4 | x) & 0x0f0f0f0f0f0f0f0fu;
    const std::uint64_t letters = (x + 0x0606060606060606u) >> 4 & 0x0101010101010101u;
    x = __builtin_bswap64(x + 0x3030303030303030u + letters * 7);
    put(x >> (64 - 8 * digits), 8 * digits);
  }

  // Bytes so far; finish() writes out the pending ones.
  constexpr std::uint32_t size() const { return 8 * count_ + fill_ / 8; }
  constexpr std::uint32_t lines() const { return lines_; }
  constexpr void finish() { words_[count_] = pending_; }

 private:
  std::uint64_t* words_;
  std::uint64_t pending_ = 0;  // characters that do not fill a word yet
  std::uint32_t fill_ = 0;     // their bits
  std::uint32_t count_ = 0;
  std::uint32_t lines_ = 0;
};

}  // namespace kaio::ptx
