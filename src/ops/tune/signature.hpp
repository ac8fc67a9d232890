#pragma once
// What calls are known by: some numbers, two calls of the same numbers take the same variant.

#include <cstdint>
#include <span>
#include <string>

namespace kaio::ops {

inline std::uint64_t hash_of_words(std::span<const std::uint64_t> words) {
  std::uint64_t h = 0x9e3779b97f4a7c15u;
  for (const std::uint64_t x : words) {
    h ^= x;
    h *= 0xff51afd7ed558ccdu;
    h ^= h >> 32;
  }
  return h;
}

// As it is written to a file: numbers, joined by commas.
inline std::string text_of_words(std::span<const std::uint64_t> words) {
  std::string result;
  for (const std::uint64_t x : words) {
    if (!result.empty()) result += ',';
    result += std::to_string(x);
  }
  return result;
}

}  // namespace kaio::ops
