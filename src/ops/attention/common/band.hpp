#pragma once
// Causal masks and windows as an attention_band.

#include <kaio/ops/attention/common/arguments.hpp>
#include <kaio/ops/attention/common/terms.hpp>

#include <cstdint>
#include <string_view>

namespace kaio::ops::detail {

// Throws invalid_argument if the alignment or the window is invalid.
void check_band(std::string_view operation, causal_alignment causal, const attention_window& window);

// Whether there is a mask at all.
bool is_banded(causal_alignment causal, const attention_window& window);

// The smallest and largest distance of a key from a query's own one.
attention_band band_of(causal_alignment causal, const attention_window& window);

// Whether the last of `queries` queries attend to more keys than the first ones: with a causal mask, unless a
// window gives most queries the same number.
bool gives_last_queries_more(const attention_band& band, std::uint32_t queries);

}  // namespace kaio::ops::detail
