#pragma once
// The frequencies of rotary pairs, on the host, in double precision.

#include <kaio/ops/cache/rotary/arguments.hpp>

#include <cstdint>
#include <vector>

namespace kaio::ops::detail {

struct rotary_frequencies {
  std::vector<double> half_turns;  // of a pair, from one position to the next
  double factor = 1;               // of cos and sin
};

// Of `pairs` pairs. Throws invalid_argument in the name of rotary_table.
rotary_frequencies frequencies_of(const rotary_table_options& options, std::uint32_t pairs);

}  // namespace kaio::ops::detail
