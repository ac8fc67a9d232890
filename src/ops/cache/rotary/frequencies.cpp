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

void check_yarn(const rotary_table_options& options) {
  const rotary_scaling& scaling = options.scaling;
  require_positive("scaling.beta_fast", scaling.beta_fast);
  require_positive("scaling.beta_slow", scaling.beta_slow);
  if (scaling.beta_slow > scaling.beta_fast)
    refuse(operation, "scaling.beta_slow is above scaling.beta_fast");
  if (options.base == 1) refuse(operation, "base is 1, with which YaRN has no frequencies to choose from");
  if (!(scaling.mscale >= 0) || !(scaling.mscale_all_dim >= 0) || !std::isfinite(scaling.mscale) ||
      !std::isfinite(scaling.mscale_all_dim))
    refuse(operation, "scaling.mscale and scaling.mscale_all_dim are finite numbers from 0");
}

void check_llama3(const rotary_scaling& scaling) {
  require_positive("scaling.low_frequency", scaling.low_frequency);
  require_positive("scaling.high_frequency", scaling.high_frequency);
  if (scaling.low_frequency >= scaling.high_frequency)
    refuse(operation, "scaling.low_frequency is not below scaling.high_frequency");
}

void check_longrope(const rotary_scaling& scaling, std::uint32_t pairs) {
  if (scaling.pair_factors.size() != pairs)
    refuse(operation, "scaling.pair_factors has " + std::to_string(scaling.pair_factors.size()) +
                          " numbers, and the tables have " + std::to_string(pairs) +
                          " pairs; one for each pair");
  for (const double factor : scaling.pair_factors) require_positive("scaling.pair_factors", factor);
  if (!scaling.attention_factor && scaling.factor > 1 && !(scaling.original_length > 1))
    refuse(operation,
           "scaling.original_length is not above 1, and the attention factor divides by its logarithm");
}

void check_dynamic(const rotary_scaling& scaling, std::uint32_t pairs) {
  require_positive("scaling.length", scaling.length);
  if (scaling.factor < 1)
    refuse(operation, "scaling.factor is below 1; of the dynamic kind it is at least 1");
  if (pairs == 1 && scaling.length > scaling.original_length)
    refuse(operation,
           "one pair, whose frequency the dynamic kind does not define; its exponent is P / (P - 1)");
}

void check(const rotary_table_options& options, std::uint32_t pairs) {
  const rotary_scaling& scaling = options.scaling;
  require_positive("base", options.base);
  if (scaling.type == kind::none) return;
  require_positive("scaling.factor", scaling.factor);
  if (scaling.type == kind::proportional && !(scaling.rotated >= 0 && scaling.rotated <= 1))
    refuse(operation, "scaling.rotated is " + std::to_string(scaling.rotated) + "; it is a fraction, 0 to 1");
  if (scaling.type == kind::linear || scaling.type == kind::proportional) return;
  require_positive("scaling.original_length", scaling.original_length);
  if (scaling.type == kind::yarn) check_yarn(options);
  if (scaling.type == kind::llama3) check_llama3(scaling);
  if (scaling.type == kind::longrope) check_longrope(scaling, pairs);
  if (scaling.type == kind::dynamic) check_dynamic(scaling, pairs);
  if (scaling.attention_factor && !std::isfinite(*scaling.attention_factor))
    refuse(operation, "scaling.attention_factor is not finite");
}

// Frequencies above high_frequency turns of the original length stay; those below low_frequency are divided.
long double llama3(const rotary_scaling& s, long double frequency) {
  const long double turns = s.original_length * frequency / (2 * std::numbers::pi_v<long double>);
  if (turns < s.low_frequency) return frequency / s.factor;
  if (turns > s.high_frequency) return frequency;
  const long double smooth = (turns - s.low_frequency) / (s.high_frequency - s.low_frequency);
  return (1 - smooth) * frequency / s.factor + smooth * frequency;
}

// Pairs that turn more than beta_fast times in the original length stay; those below beta_slow are divided.
// Between them is a ramp over the numbers of the pairs.
struct yarn_ramp {
  double low, high;
  yarn_ramp(const rotary_table_options& options, std::uint32_t pairs) {
    const double size = 2.0 * pairs;
    const auto pair_of = [&](double turns) {
      return size * std::log(options.scaling.original_length / (turns * 2 * std::numbers::pi)) /
             (2 * std::log(options.base));
    };
    const double begin = pair_of(options.scaling.beta_fast), end = pair_of(options.scaling.beta_slow);
    low = std::max(options.scaling.truncate ? std::floor(begin) : begin, 0.0);
    high = std::min(options.scaling.truncate ? std::ceil(end) : end, size - 1);
    if (low == high) high += 0.001;
  }
  long double operator()(const rotary_scaling& s, std::uint32_t pair, long double frequency) const {
    const double divided = std::clamp((pair - low) / (high - low), 0.0, 1.0);
    return frequency / s.factor * divided + frequency * (1 - divided);
  }
};

// The dynamic kind: another base for a longer sequence.
long double base_of(const rotary_table_options& options, std::uint32_t pairs) {
  const rotary_scaling& s = options.scaling;
  const auto base = static_cast<long double>(options.base);
  if (s.type != kind::dynamic || s.length <= s.original_length) return base;
  const long double stretched =
      static_cast<long double>(s.factor) * s.length / s.original_length - (s.factor - 1);
  return base * std::pow(stretched, static_cast<long double>(pairs) / (pairs - 1));
}

double attention_factor_of(const rotary_scaling& s) {
  const auto m = [&](double scale) { return s.factor <= 1 ? 1.0 : 0.1 * scale * std::log(s.factor) + 1; };
  if (s.type != kind::yarn && s.type != kind::longrope) return 1;
  if (s.attention_factor) return *s.attention_factor;
  if (s.type == kind::longrope)
    return s.factor <= 1 ? 1.0 : std::sqrt(1 + std::log(s.factor) / std::log(s.original_length));
  return s.mscale != 0 && s.mscale_all_dim != 0 ? m(s.mscale) / m(s.mscale_all_dim) : m(1);
}

}  // namespace

rotary_frequencies frequencies_of(const rotary_table_options& options, std::uint32_t pairs) {
  check(options, pairs);
  const rotary_scaling& s = options.scaling;
  const long double base = base_of(options, pairs);
  const yarn_ramp ramp(options, pairs);
  rotary_frequencies result;
  for (std::uint32_t i = 0; i < pairs; ++i) {
    // In long double: the logarithm of the base multiplies the rounding of the exponent.
    long double frequency = std::pow(base, -static_cast<long double>(i) / pairs);
    switch (s.type) {
      case kind::none:
      case kind::dynamic: break;
      case kind::linear: frequency /= s.factor; break;
      case kind::llama3: frequency = llama3(s, frequency); break;
      case kind::yarn: frequency = ramp(s, i, frequency); break;
      case kind::longrope: frequency /= s.pair_factors[i]; break;
      case kind::proportional:
        frequency = i < std::floor(s.rotated * pairs) ? frequency / s.factor : 0;
        break;
    }
    // The rounding of an angle grows with its frequency: see rotary_table.
    if (!(frequency <= 16))
      refuse(operation, "pair " + std::to_string(i) + " turns by " +
                            std::to_string(static_cast<double>(frequency)) +
                            " radians with each position; at most 16: base, scaling.factor and "
                            "scaling.pair_factors are numbers of about 1 or more");
    result.half_turns.push_back(static_cast<double>(frequency / std::numbers::pi_v<long double>));
  }
  result.factor = attention_factor_of(s);
  if (!(std::abs(result.factor) <= 1e4))
    refuse(operation,
           "the attention factor is " + std::to_string(result.factor) + "; it is from -1e4 to 1e4");
  return result;
}

}  // namespace kaio::ops::detail
