#pragma once
// Dimensions of a view that a kernel does not treat one by one: joined where they are one run, and as the
// parameters of a kernel.

#include <kaio/ops/reduce/common/problem.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

namespace kaio::ops::detail {

inline constexpr std::uint64_t most_rows = std::numeric_limits<std::int32_t>::max();

struct dimension {
  std::uint64_t extent;
  std::int64_t from, to;
};
using dimensions = std::vector<dimension>;

inline std::uint64_t product(const dimensions& d) {
  std::uint64_t result = 1;
  for (const dimension& one : d) result *= one.extent;
  return result;
}
constexpr std::uint64_t ceil(std::uint64_t a, std::uint64_t b) { return a / b + (a % b != 0 ? 1 : 0); }
inline std::uint32_t log_of(std::uint64_t count, std::uint32_t limit) {
  return std::min<std::uint32_t>(
      static_cast<std::uint32_t>(std::bit_width(std::max<std::uint64_t>(count, 1) - 1)), limit);
}

// Drops dimensions of extent 1, and joins neighbours that are one run in both tensors.
inline dimensions joined(const dimensions& all) {
  dimensions result;
  for (const dimension& one : all) {
    if (one.extent == 1) continue;
    const auto extent = static_cast<std::int64_t>(one.extent);
    if (!result.empty() && result.back().from == extent * one.from && result.back().to == extent * one.to)
      result.back() = {result.back().extent * one.extent, one.from, one.to};
    else
      result.push_back(one);
  }
  return result;
}

inline kept_dimensions kept_of(const dimensions& d) {
  kept_dimensions kept{};
  const auto at = [&](std::size_t from_last) {
    return d.size() > from_last ? d[d.size() - 1 - from_last] : dimension{1, 0, 0};
  };
  for (std::size_t i = 0; i < 4; ++i) {
    kept.from[3 - i] = at(i).from;
    kept.to[3 - i] = at(i).to;
  }
  kept.last = divisor::of(static_cast<u32>(at(0).extent));
  kept.third = divisor::of(static_cast<u32>(at(1).extent));
  kept.second = divisor::of(static_cast<u32>(at(2).extent));
  return kept;
}

}  // namespace kaio::ops::detail
