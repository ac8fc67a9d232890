#pragma once
// The words of memory through which threads publish their actions. A write publishes the events that its
// thread has released to other blocks, for each distance. A reader of the word may take them over
// (checks/order.hpp). An atomic operation adds to the word's publications; any other write replaces them.

#include "emulator/sanitizer/state/causality.hpp"
#include "emulator/sanitizer/state/shadow.hpp"

#include <array>
#include <cstddef>
#include <unordered_map>
#include <vector>

namespace kaio::emulator::sanitizing {

inline constexpr unsigned reaches = 3;

constexpr std::size_t index_of(reach r) { return static_cast<std::size_t>(r); }

// The events that a write to a word, with the fences before it, publishes to its readers: in the same block,
// in the same cluster, and anywhere. 0: none.
struct publication {
  std::array<event_number, reaches> events{};
  u32 block = 0;
  bool anywhere = false;  // gathered from several blocks
};

class publications {
 public:
  // nullptr: the place publishes nothing.
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
