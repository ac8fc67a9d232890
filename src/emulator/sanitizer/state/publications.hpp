#pragma once
// The words of memory through which threads let others know what they did. A write publishes the events that
// its thread has released to other blocks at each distance; who reads the word may take them over
// (checks/order.hpp). An atomic operation adds to what the word publishes, any other write replaces it.

#include "emulator/sanitizer/state/causality.hpp"
#include "emulator/sanitizer/state/shadow.hpp"

#include <array>
#include <cstddef>
#include <unordered_map>
#include <vector>

namespace kaio::emulator::sanitizing {

inline constexpr unsigned reaches = 3;

constexpr std::size_t index_of(reach r) { return static_cast<std::size_t>(r); }

// What a write to a word, with the fences before it, publishes to those that read it: for readers in the same
// block, in the same cluster, and anywhere. 0: nothing.
struct publication {
  std::array<event_number, reaches> events{};
  u32 block = 0;
  bool anywhere = false;  // gathered from several blocks
};

class publications {
 public:
  // nullptr: nothing is published at this place.
  const std::vector<publication>* find(const std::byte* at) const {
    const auto found = words_.find(at);
    return found == words_.end() ? nullptr : &found->second;
  }
  void add(causality& order, const std::byte* at, const publication& p, bool update);
  void forget(const std::byte* at) { words_.erase(at); }

 private:
  std::unordered_map<const std::byte*, std::vector<publication>> words_;
};

}  // namespace kaio::emulator::sanitizing
