#include "emulator/profile/transactions.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace kaio::emulator::profile {
namespace {

// The addresses of the active lanes, sorted.
struct sorted_lanes {
  std::array<u64, warp_lanes> at;
  u32 count = 0;

  sorted_lanes(const u64 (&address)[warp_lanes], u32 mask) {
    for (; mask != 0; mask &= mask - 1) at[count++] = address[std::countr_zero(mask)];
    if (!std::is_sorted(begin(), end())) std::sort(at.begin(), at.begin() + count);
  }
  const u64* begin() const { return at.data(); }
  const u64* end() const { return at.data() + count; }
};

constexpr u64 ceiling(u64 a, u64 b) { return (a + b - 1) / b; }

// Accesses wider than a bank row count as full rows.
transactions wide_wavefronts(u32 mask, u32 bytes) {
  const u64 rows = static_cast<u64>(std::popcount(mask)) * ceiling(bytes, shared_banks * bank_bytes);
  return {rows, rows};
}

// Different words in one bank wait for each other.
u64 deepest_bank(std::array<u64, 2 * warp_lanes>& words, u32 count) {
  std::sort(words.begin(), words.begin() + count);
  const auto last = std::unique(words.begin(), words.begin() + count);
  std::array<u32, shared_banks> depth{};
  u32 deepest = 0;
  for (auto word = words.begin(); word != last; ++word)
    deepest = std::max(deepest, ++depth[*word % shared_banks]);
  return deepest;
}

}  // namespace

transactions sectors(const u64 (&address)[warp_lanes], u32 mask, u32 bytes) {
  if (mask == 0 || bytes == 0) return {};
  u64 count = 0, distinct = 0;
  u64 next_byte = 0, next_sector = 0;  // everything before is counted
  for (const u64 first : sorted_lanes(address, mask)) {
    const u64 end = first + bytes;
    if (end > next_byte) distinct += end - std::max(first, next_byte);
    next_byte = std::max(next_byte, end);
    const u64 from = std::max(first / sector_bytes, next_sector), to = (end - 1) / sector_bytes + 1;
    if (to > from) {
      count += to - from;
      next_sector = to;
    }
  }
  return {count, ceiling(distinct, sector_bytes)};
}

transactions wavefronts(const u64 (&offset)[warp_lanes], u32 mask, u32 bytes) {
  if (mask == 0 || bytes == 0) return {};
  if (bytes > 16) return wide_wavefronts(mask, bytes);
  const u32 words_of_lane = bytes <= bank_bytes ? 1 : bytes / bank_bytes;
  const u32 lanes_of_phase = warp_lanes / words_of_lane;
  transactions result;
  for (u32 first = 0; first < warp_lanes; first += lanes_of_phase) {
    std::array<u64, 2 * warp_lanes> words;
    u32 count = 0;
    for (u32 lane = first; lane < first + lanes_of_phase; ++lane) {
      if ((mask >> lane & 1) == 0) continue;
      for (u32 word = 0; word < words_of_lane; ++word) words[count++] = offset[lane] / bank_bytes + word;
    }
    if (count == 0) continue;
    result.count += deepest_bank(words, count);
    ++result.ideal;
  }
  return result;
}

transactions local_sectors(const u64 (&offset)[warp_lanes], u32 mask, u32 bytes) {
  if (mask == 0 || bytes == 0) return {};
  constexpr u32 row_bytes = warp_lanes * bank_bytes;  // one word of each lane
  transactions result;
  u64 distinct = 0;
  const u32 words = static_cast<u32>(ceiling(bytes, bank_bytes));
  for (u32 word = 0; word < words; ++word) {
    u64 interleaved[warp_lanes] = {};
    for (u32 left = mask; left != 0; left &= left - 1) {
      const auto lane = static_cast<u32>(std::countr_zero(left));
      interleaved[lane] = (offset[lane] / bank_bytes + word) * row_bytes + lane * bank_bytes;
    }
    result.count += sectors(interleaved, mask, bank_bytes).count;
    distinct += static_cast<u64>(std::popcount(mask)) * bank_bytes;
  }
  result.ideal = ceiling(distinct, sector_bytes);
  return result;
}

u32 most_at_one_address(const u64 (&address)[warp_lanes], u32 mask) {
  const sorted_lanes lanes(address, mask);
  u32 most = 0, run = 0;
  for (u32 k = 0; k < lanes.count; ++k) {
    run = k != 0 && lanes.at[k] == lanes.at[k - 1] ? run + 1 : 1;
    most = std::max(most, run);
  }
  return most;
}

}  // namespace kaio::emulator::profile
