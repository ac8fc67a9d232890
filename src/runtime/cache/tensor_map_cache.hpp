#pragma once
// The tensor maps that a device encoded last, by their descriptions. A map is a function of its description
// alone: no entry can become stale, whatever happens to the memory that it describes.
//
//   if (!cache.find(tensor, to)) {
//     device.encode_tensor_map(tensor, to);
//     cache.insert(tensor, to);
//   }
//
// A set-associative table of a fixed size. Readers take no lock. An entry's version is odd while the entry is
// written, and different afterwards: a reader whose entry was replaced meanwhile finds out, and misses. In a
// full set the second-chance rule selects the map to evict.

#include <kaio/runtime/tensor_map.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

namespace kaio::runtime {

class tensor_map_cache {
 public:
  static constexpr std::size_t sets = 512, ways = 8;  // 4096 maps, 1.2 MB, from the first insertion on
  static constexpr std::size_t map_bytes = 128;

  // Copies the map to `to` and returns whether there was one. If there was none, `to` is undefined.
  bool find(const detail::tensor_description& tensor, unsigned char* to) const noexcept;
  // Keeps a map; in a full set it replaces another one. The first call may throw std::bad_alloc.
  void insert(const detail::tensor_description& tensor, const unsigned char* map);

 private:
  static constexpr std::size_t key_words = sizeof(detail::tensor_description) / 8, map_words = map_bytes / 8;
  struct key {
    std::uint64_t word[key_words];
  };
  struct entry {
    std::atomic<std::uint32_t> version{0};  // odd while the rest changes
    mutable std::atomic<bool> recent{false};
    std::atomic<std::uint64_t> words[key_words + map_words] = {};
  };
  struct table {
    std::atomic<std::uint64_t> tags[sets][ways] = {};  // the key's hash; 0: empty
    entry entries[sets][ways];
    std::uint8_t hand[sets] = {};
  };

  static std::uint64_t hash(const key& k) noexcept;
  static bool read(const entry& from, const key& k, unsigned char* to) noexcept;
  static bool find(const table& t, const key& k, std::uint64_t hashed, unsigned char* to) noexcept;
  static std::size_t victim(table& t, std::size_t set) noexcept;

  std::unique_ptr<table> owned_;
  std::atomic<table*> table_{nullptr};
  std::mutex changing_;
};

}  // namespace kaio::runtime
