#include "runtime/cache/tensor_map_cache.hpp"

#include <cstring>

namespace kaio::runtime {

namespace {

std::size_t set_of(std::uint64_t hashed) noexcept { return hashed >> 55; }
static_assert(tensor_map_cache::sets == std::size_t{1} << 9);
std::uint64_t tag_of(std::uint64_t hashed) noexcept { return hashed | 1; }

}  // namespace

// Four independent chains, which a processor computes in parallel.
std::uint64_t tensor_map_cache::hash(const key& k) noexcept {
  constexpr std::uint64_t odd = 0x9e3779b97f4a7c15u;
  std::uint64_t chain[4] = {1, 2, 3, 4};
  const auto mix = [](std::uint64_t state, std::uint64_t word) {
    state = (state ^ word) * odd;
    return state ^ state >> 32;
  };
  std::size_t i = 0;
  for (; i + 4 <= key_words; i += 4) {
    for (std::size_t c = 0; c < 4; ++c) chain[c] = mix(chain[c], k.word[i + c]);
  }
  for (std::size_t c = 0; i < key_words; ++i, ++c) chain[c] = mix(chain[c], k.word[i]);
  return mix(mix(chain[0], chain[1]), mix(chain[2], chain[3])) * odd;
}

bool tensor_map_cache::read(const entry& from, const key& k, unsigned char* to) noexcept {
  const std::uint32_t version = from.version.load(std::memory_order_acquire);
  if ((version & 1) != 0) return false;
  // Acquire pairs with release: a reader that sees a word of a later version also sees that the version changed.
  std::uint64_t different = 0;
  for (std::size_t i = 0; i < key_words; ++i)
    different |= from.words[i].load(std::memory_order_acquire) ^ k.word[i];
  if (different != 0) return false;
  for (std::size_t i = 0; i < map_words; ++i) {
    const std::uint64_t word = from.words[key_words + i].load(std::memory_order_acquire);
    std::memcpy(to + i * 8, &word, 8);
  }
  if (from.version.load(std::memory_order_relaxed) != version) return false;
  if (!from.recent.load(std::memory_order_relaxed)) from.recent.store(true, std::memory_order_relaxed);
  return true;
}

bool tensor_map_cache::find(const table& t, const key& k, std::uint64_t hashed, unsigned char* to) noexcept {
  const std::size_t set = set_of(hashed);
  for (std::size_t way = 0; way < ways; ++way) {
    if (t.tags[set][way].load(std::memory_order_acquire) != tag_of(hashed)) continue;
    if (read(t.entries[set][way], k, to)) return true;
  }
  return false;
}

bool tensor_map_cache::find(const detail::tensor_description& tensor, unsigned char* to) const noexcept {
  const table* const t = table_.load(std::memory_order_acquire);
  if (t == nullptr) return false;
  const key k = __builtin_bit_cast(key, tensor);
  return find(*t, k, hash(k), to);
}

std::size_t tensor_map_cache::victim(table& t, std::size_t set) noexcept {
  for (std::size_t way = 0; way < ways; ++way) {
    if (t.tags[set][way].load(std::memory_order_relaxed) == 0) return way;
  }
  while (true) {
    const std::size_t way = t.hand[set];
    t.hand[set] = static_cast<std::uint8_t>((way + 1) % ways);
    if (!t.entries[set][way].recent.exchange(false, std::memory_order_relaxed)) return way;
  }
}

void tensor_map_cache::insert(const detail::tensor_description& tensor, const unsigned char* map) {
  const key k = __builtin_bit_cast(key, tensor);
  const std::uint64_t hashed = hash(k);
  const std::scoped_lock lock(changing_);
  if (!owned_) {
    owned_ = std::make_unique<table>();
    table_.store(owned_.get(), std::memory_order_release);
  }
  table& t = *owned_;
  unsigned char same[map_bytes];
  if (find(t, k, hashed, same)) return;  // another thread was faster
  const std::size_t set = set_of(hashed), way = victim(t, set);
  entry& e = t.entries[set][way];
  const std::uint32_t version = e.version.load(std::memory_order_relaxed);
  e.version.store(version + 1, std::memory_order_relaxed);
  t.tags[set][way].store(tag_of(hashed), std::memory_order_release);
  for (std::size_t i = 0; i < key_words; ++i) e.words[i].store(k.word[i], std::memory_order_release);
  for (std::size_t i = 0; i < map_words; ++i) {
    std::uint64_t word = 0;
    std::memcpy(&word, map + i * 8, 8);
    e.words[key_words + i].store(word, std::memory_order_release);
  }
  e.recent.store(false, std::memory_order_relaxed);
  e.version.store(version + 2, std::memory_order_release);
}

}  // namespace kaio::runtime
