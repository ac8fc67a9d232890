#include "emulator/sanitizer/state/shadow.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

namespace kaio::emulator::sanitizing {

void record_pool::clear() {
  lists_.resize(1);
  cells_.resize(1);
  free_.clear();
  free_cells_.clear();
}

u32 record_pool::allocate() {
  if (free_.empty()) {
    lists_.emplace_back();
    return static_cast<u32>(lists_.size() - 1);
  }
  const u32 number = free_.back();
  free_.pop_back();
  return number;
}

void record_pool::release(u32& number) {
  if (number == 0) return;
  lists_[number].clear();
  free_.push_back(number);
  number = 0;
}

u32 record_pool::allocate_cells() {
  if (free_cells_.empty()) {
    cells_.emplace_back();
    return static_cast<u32>(cells_.size() - 1);
  }
  const u32 number = free_cells_.back();
  free_cells_.pop_back();
  return number;
}

void record_pool::release_cells(u32& number) {
  if (number == 0) return;
  for (cell& c : cells_[number]) {
    release(c.more);
    c = {};
  }
  free_cells_.push_back(number);
  number = 0;
}

line* line_store::lines_of(const std::byte* data, u64 bytes) {
  // A zeroed line is an unknown line.
  static_assert(std::is_trivially_copyable_v<line>);
  entry& e = known_[data];
  if (e.bytes != bytes) {
    e.storage = zeroed_bytes((bytes / (words_of_a_line * 4) + 1) * sizeof(line));
    e.bytes = bytes;
  }
  return reinterpret_cast<line*>(e.storage.data());
}

void line_store::keep_only(const std::vector<const std::byte*>& live) {
  std::erase_if(known_,
                [&](const auto& item) { return !std::binary_search(live.begin(), live.end(), item.first); });
}

}  // namespace kaio::emulator::sanitizing
