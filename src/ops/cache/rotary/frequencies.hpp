#pragma once
// The frequencies of rotary pairs, computed on the host.

#include <kaio/ops/cache/rotary/arguments.hpp>

#include <cstdint>
#include <vector>

namespace kaio::ops::detail {

struct rotary_frequencies {
  std::vector<double> half_turns;  // of each pair, per position
  double factor = 1;               // factor of cos and sin
};

// The frequencies of `pairs` pairs. Throws invalid_argument in the name of rotary_table.
rotary_frequencies frequencies_of(const rotary_table_options& options, std::uint32_t pairs);

}  // namespace kaio::ops::detail
