#include "ops/attention/common/band.hpp"

#include <kaio/runtime/error.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>

namespace kaio::ops::detail {

void check_band(std::string_view operation, causal_alignment causal, const attention_window& window) {
  const auto refuse = [&](const std::string& what) {
    throw invalid_argument("kaio: " + std::string(operation) + ": " + what);
  };
  if (causal > causal_alignment::bottom_right) refuse("an invalid causal alignment");
  if (window.left < -1 || window.right < -1)
    refuse("a window of " + std::to_string(window.left) + " keys to the left and " +
           std::to_string(window.right) + " to the right; -1 is all of them");
}

bool is_banded(causal_alignment causal, const attention_window& window) {
  return causal != causal_alignment::none || window.left != -1 || window.right != -1;
}

attention_band band_of(causal_alignment causal, const attention_window& window) {
  constexpr std::int64_t most = std::numeric_limits<i32>::max();
  attention_band band;
  if (window.left >= 0) band.low = static_cast<i32>(-std::min(window.left, most));
  if (causal != causal_alignment::none)
    band.high = 0;
  else if (window.right >= 0)
    band.high = static_cast<i32>(std::min(window.right, most - 1));
  band.top_left = causal == causal_alignment::top_left ? 1 : 0;
  return band;
}

bool gives_last_queries_more(const attention_band& band, std::uint32_t queries) {
  constexpr attention_band open;
  if (band.high == open.high) return false;
  return band.low == open.low || std::int64_t{band.high} - band.low >= queries / 2;
}

}  // namespace kaio::ops::detail
