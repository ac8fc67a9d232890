#pragma once
// The runtime knows a kernel by this 128-bit hash of its text, wherever the text is in memory. After dlclose,
// another library's kernel may be at this one's address, or the same kernel at another. The hash is for
// programs that nobody built to collide. It takes eight characters at a time, because the language writes
// text in words of 64 bits.
//
//   constexpr text_hash first = hash_of(segments, 3);   // a constant, or some microseconds at run time

#include <kaio/ptx/standard.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace kaio::ptx {

struct text_hash {
  std::uint64_t low = 0x243f6a8885a308d3u, high = 0x13198a2e03707344u;  // the hash of no text
  friend constexpr bool operator==(const text_hash&, const text_hash&) = default;
};

// Takes two words a step, which costs compilers as much as one. A step is a bijection of the 128 bits, so
// texts of one length that differ in one word never have the same hash. If the number of words is odd, a zero
// comes last.
constexpr text_hash hash_words(text_hash before, const std::uint64_t* words, std::size_t count) {
  std::uint64_t low = before.low, high = before.high;
  for (std::size_t i = 0; i < count; i += 2) {
    low = (low ^ high >> 29 ^ words[i]) * 0x9e3779b97f4a7c15u;
    high = (high ^ low >> 32 ^ words[i + 1]) * 0xd6e8feb86659fd93u;
  }
  return {low, high};
}

// The start for the words of a segment: segments join without separators, and end anywhere in a word.
constexpr text_hash before_segment(text_hash before, std::size_t characters) {
  return {before.low ^ characters, before.high};
}

// A segment that counts characters and has none equals no other text; the runtime refuses it before it is
// loaded.
constexpr text_hash hash_segment(text_hash before, std::string_view segment) {
  constexpr std::size_t most = 256;  // characters at a time
  const char* from = segment.data();
  text_hash result = before_segment(before, segment.size());
  if (from == nullptr) return result;
  for (std::size_t left = segment.size(), size = 0; left != 0; left -= size, from += size) {
    size = left < most ? left : most;
    std::uint64_t words[most / 8] = {};
    if (std::is_constant_evaluated()) {
      for (std::size_t i = 0; i < size; ++i)
        words[i / 8] |= std::uint64_t{static_cast<unsigned char>(from[i])} << 8 * (i % 8);
    } else {
      __builtin_memcpy(words, from, size);
    }
    result = hash_words(result, words, (size + 7) / 8);
  }
  return result;
}

// Hashes a segment that is packed already: the first character in the lowest byte, zeros after the last.
constexpr text_hash hash_segment(text_hash before, const std::uint64_t* words, std::size_t characters) {
  return hash_words(before_segment(before, characters), words, (characters + 7) / 8);
}

constexpr text_hash hash_of(const std::string_view* segments, std::size_t count) {
  text_hash result;
  for (std::size_t i = 0; i < count; ++i) result = hash_segment(result, segments[i]);
  return result;
}

}  // namespace kaio::ptx
