#pragma once
// Signatures of calls: numbers. Two calls with equal numbers take the same variant.

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

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

// The form in files: numbers, joined by commas.
inline std::string text_of_words(std::span<const std::uint64_t> words) {
  std::string result;
  for (const std::uint64_t x : words) {
    if (!result.empty()) result += ',';
    result += std::to_string(x);
  }
  return result;
}

// The signature of an operation that needs numbers alone.
template <std::size_t N>
struct words_signature {
  std::array<std::uint64_t, N> words{};
  friend bool operator==(const words_signature&, const words_signature&) = default;
  std::uint64_t hash() const { return hash_of_words(words); }
  // The form in files, which hold the signatures of all operations.
  std::string text(std::string_view operation) const {
    return std::string(operation) + "," + text_of_words(words);
  }
};

// Packs numbers of a few bits each into one word.
class packed_word {
 public:
  packed_word& add(std::uint64_t value, unsigned bits) {
    word_ = word_ << bits | value;
    return *this;
  }
  std::uint64_t value() const { return word_; }

 private:
  std::uint64_t word_ = 0;
};

// The choice of separate launches for a product and the step after it, although a fused kernel may do both.
inline constexpr std::string_view separate = "separate";

// The name of a kernel with its number of splits:
//
//   kernel:4            a second kernel adds the splits up, or nothing has to
//   kernel:4:cluster    the splits are a cluster
inline std::string name_with_splits(std::string_view kernel, std::uint32_t splits, bool in_cluster = false) {
  return std::string(kernel) + ":" + std::to_string(splits) + (in_cluster ? ":cluster" : "");
}
// The number of splits in such a name; 0: it has none.
inline std::uint32_t splits_of_name(std::string_view name) {
  std::uint32_t splits = 0;
  if (const std::size_t colon = name.find(':'); colon != std::string_view::npos)
    std::from_chars(name.data() + colon + 1, name.data() + name.size(), splits);
  return splits;
}

}  // namespace kaio::ops
