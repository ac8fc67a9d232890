#include "ops/cache/rotary/frequencies.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <string_view>

#include "ops/cache/common/check.hpp"

namespace kaio::ops::detail {

namespace {

constexpr std::string_view operation = "rotary_table";
using kind = rotary_scaling::kind;

void require_positive(const char* name, double x) {
  if (!(x > 0) || !std::isfinite(x))
    refuse(operation, std::string(name) + " is " + std::to_string(x) + "; it is a finite number above 0");
}

void check(const rotary_table_options& options) {
  const rotary_scaling& scaling = options.scaling;
  require_positive("base", options.base);
  if (scaling.type == kind::none) return;
  require_positive("scaling.factor", scaling.factor);
  if (scaling.type == kind::linear) return;
  require_positive("scaling.original_length", scaling.original_length);
  if (scaling.type == kind::llama3) {
    require_positive("scaling.low_frequency", scaling.low_frequency);
    require_positive("scaling.high_frequency", scaling.high_frequency);
    if (scaling.low_frequency >= scaling.high_frequency)
      refuse(operation, "scaling.low_frequency is not below scaling.high_frequency");
    return;
  }
  require_positive("scaling.beta_fast", scaling.beta_fast);
  require_positive("scaling.beta_slow", scaling.beta_slow);
  if (scaling.beta_slow > scaling.beta_fast)
    refuse(operation, "scaling.beta_slow is above scaling.beta_fast");
  if (options.base == 1) refuse(operation, "base is 1, with which YaRN has no frequencies to choose from");
  if (scaling.attention_factor && !std::isfinite(*scaling.attention_factor))
    refuse(operation, "scaling.attention_factor is not finite");
}

// Frequencies above high_frequency turns of the original length stay, those below low_frequency are divided.
long double llama3(const rotary_scaling& s, long double frequency) {
  const long double turns = s.original_length * frequency / (2 * std::numbers::pi_v<long double>);
  if (turns < s.low_frequency) return frequency / s.factor;
  if (turns > s.high_frequency) return frequency;
  const long double smooth = (turns - s.low_frequency) / (s.high_frequency - s.low_frequency);
  return (1 - smooth) * frequency / s.factor + smooth * frequency;
}

// Pairs that turn more than beta_fast times in the original length stay, those below beta_slow are divided,
// with a ramp over the numbers of the pairs between them.
struct yarn_ramp {
  double low, high;
  yarn_ramp(const rotary_table_options& options, std::uint32_t pairs) {
    const double size = 2.0 * pairs;
    const auto pair_of = [&](double turns) {
      return size * std::log(options.scaling.original_length / (turns * 2 * std::numbers::pi)) /
             (2 * std::log(options.base));
    };
    low = std::max(std::floor(pair_of(options.scaling.beta_fast)), 0.0);
    high = std::min(std::ceil(pair_of(options.scaling.beta_slow)), size - 1);
    if (low == high) high += 0.001;
  }
  long double operator()(const rotary_scaling& s, std::uint32_t pair, long double frequency) const {
    const double divided = std::clamp((pair - low) / (high - low), 0.0, 1.0);
    return frequency / s.factor * divided + frequency * (1 - divided);
  }
};

}  // namespace

rotary_frequencies frequencies_of(const rotary_table_options& options, std::uint32_t pairs) {
  check(options);
  const rotary_scaling& s = options.scaling;
  rotary_frequencies result;
  const yarn_ramp ramp(options, pairs);
  for (std::uint32_t i = 0; i < pairs; ++i) {
    // The rounding of the exponent would be multiplied by the logarithm of the base.
    long double frequency =
        std::pow(static_cast<long double>(options.base), -static_cast<long double>(i) / pairs);
    if (s.type == kind::linear) frequency /= s.factor;
    if (s.type == kind::llama3) frequency = llama3(s, frequency);
    if (s.type == kind::yarn) frequency = ramp(s, i, frequency);
    result.half_turns.push_back(static_cast<double>(frequency / std::numbers::pi_v<long double>));
  }
  if (s.type == kind::yarn)
    result.factor = s.attention_factor.value_or(s.factor <= 1 ? 1.0 : 0.1 * std::log(s.factor) + 1);
  return result;
}

}  // namespace kaio::ops::detail
