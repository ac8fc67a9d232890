#pragma once
// Causal masks and windows, as the numbers of band_mask.

#include <kaio/ops/attention/forward/call/arguments.hpp>
#include <kaio/ops/attention/common/terms.hpp>

#include <cstdint>
#include <string_view>

namespace kaio::ops::detail {

// Throws invalid_argument where one of them is none.
void check_band(std::string_view operation, causal_alignment causal, const attention_window& window);

// Whether there is a mask at all.
bool is_banded(causal_alignment causal, const attention_window& window);

// Which keys are at most how far from a query's own one.
attention_band band_of(causal_alignment causal, const attention_window& window);

// Whether the last of so many queries attend to more keys than the first ones: with a causal mask, but not where
// a window gives most of them the same number.
bool gives_last_queries_more(const attention_band& band, std::uint32_t queries);

}  // namespace kaio::ops::detail
