#pragma once
// A rank's call as bytes of fixed size, which processes gather so that all ranks compare them.

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "ops/distributed/common/call.hpp"

namespace kaio::ops::detail {

struct call_record {
  static constexpr std::size_t most_numbers = 48, most_ranks = 64;
  std::array<char, 64> operation{};
  std::int64_t refused = 0, compared = 0, given = 0;         // counts of numbers
  std::array<std::int64_t, most_numbers> numbers{};          // those to compare, then those to gather
  std::array<std::uint64_t, most_ranks> sent{}, received{};  // a hash of the transfers with each rank

  static call_record of(const call_of_rank& mine);
};

// Why the calls do not match; empty: they do.
std::string mismatch(std::span<const call_record> records);

}  // namespace kaio::ops::detail
