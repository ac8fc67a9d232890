#pragma once
// A problem of cross_entropy on the host: its losses and gradients in double precision.

#include "tests/ops/cache/support.hpp"

#include <kaio/ops/cross_entropy.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace kaio::tests {

struct entropy_case {
  i64 rows = 3, classes = 64;
  loss_reduction reduction = loss_reduction::none;
  float smoothing = 0, z_loss = 0, softcap = 0;
  bool has_weights = false, has_wide_targets = true, in_place = false;
  u32 pad = 0, shift = 0;  // elements after each row, before the first one
  i64 ignore_index = -100;
  i64 ignored_from = 2;  // each third row from here on is ignored; -1: none
  i64 wrong_row = -1;
  float range = 5;
  std::uint64_t seed = 1;
};

template <class T>
struct entropy_problem {
  entropy_case c;
  cache_tensor<T> logits;
  std::vector<i64> targets;
  std::vector<f32> weights, dloss;
  std::vector<double> losses, lse, total;  // total: the loss of sum or mean, and its divisor
  std::vector<double> gradients, parts;    // parts: the sizes of what a gradient is the sum of

  explicit entropy_problem(const entropy_case& in)
      : c(in),
        logits(input_tensor<T>(1, in.rows, 1, in.classes, {.pad = in.pad, .shift = in.shift}, in.seed,
                               in.range)) {
    std::mt19937_64 engine(c.seed + 1);
    std::uniform_real_distribution<float> positive(0.5f, 2);
    for (i64 r = 0; r < c.rows; ++r) {
      i64 target = static_cast<i64>(engine() % static_cast<std::uint64_t>(c.classes));
      if (c.ignored_from >= 0 && r >= c.ignored_from && (r - c.ignored_from) % 3 == 0)
        target = c.ignore_index;
      if (r == c.wrong_row) target = r % 2 == 0 ? c.classes : -1;
      targets.push_back(target);
    }
    for (i64 k = 0; k < c.classes; ++k) weights.push_back(positive(engine));
    for (i64 r = 0; r < (c.reduction == loss_reduction::none ? c.rows : 1); ++r)
      dloss.push_back(positive(engine) - 1);
  }
  double x(i64 r, i64 k) const { return to_double(logits.at(0, r, 0, k)); }
  double z(i64 r, i64 k) const {
    return c.softcap == 0 ? x(r, k) : c.softcap * std::tanh(x(r, k) / c.softcap);
  }
  double weight(i64 k) const { return c.has_weights ? weights[static_cast<std::size_t>(k)] : 1.0; }
  i64 target(i64 r) const { return targets[static_cast<std::size_t>(r)]; }
  bool is_ignored(i64 r) const { return target(r) == c.ignore_index; }
  bool is_wrong(i64 r) const { return !is_ignored(r) && (target(r) < 0 || target(r) >= c.classes); }

  void solve() {
    const double nan = std::numeric_limits<double>::quiet_NaN(), n = static_cast<double>(c.classes);
    double sum = 0, divisor = 0, all_weights = 0;
    for (i64 k = 0; k < c.classes; ++k) all_weights += weight(k);
    for (i64 r = 0; r < c.rows; ++r) {
      double largest = -std::numeric_limits<double>::infinity(), powers = 0, smooth = 0;
      for (i64 k = 0; k < c.classes; ++k) largest = std::max(largest, z(r, k));
      for (i64 k = 0; k < c.classes; ++k) powers += std::exp(z(r, k) - largest);
      lse.push_back(std::isinf(largest) && largest < 0 ? largest : largest + std::log(powers));
      double loss = 0;
      if (is_wrong(r)) loss = nan;
      if (!is_ignored(r) && !is_wrong(r)) {
        for (i64 k = 0; k < c.classes; ++k)
          smooth += c.smoothing == 0 ? 0 : weight(k) * (lse.back() - z(r, k));
        loss = (1 - double{c.smoothing}) * weight(target(r)) * (lse.back() - z(r, target(r))) +
               double{c.smoothing} / n * smooth + double{c.z_loss} * lse.back() * lse.back();
        divisor += weight(target(r));
      }
      losses.push_back(loss);
      sum += loss;
    }
    total = {c.reduction == loss_reduction::mean ? sum / divisor : sum, divisor};
    for (i64 r = 0; r < c.rows; ++r)
      for (i64 k = 0; k < c.classes; ++k) {
        const auto at = static_cast<std::size_t>(r);
        const double scale = dloss[c.reduction == loss_reduction::none ? at : 0] /
                             (c.reduction == loss_reduction::mean ? divisor : 1);
        if (is_ignored(r) || is_wrong(r)) {
          gradients.push_back(is_ignored(r) ? 0 : nan);
          parts.push_back(0);
          continue;
        }
        const double share = double{c.smoothing} / n, own = (1 - double{c.smoothing}) * weight(target(r));
        const double p = std::exp(z(r, k) - lse[at]);
        const double by_p =
            own + share * (c.smoothing == 0 ? 0 : all_weights) + 2 * double{c.z_loss} * lse[at];
        const double less = share * weight(k) + (k == target(r) ? own : 0);
        const double cap = c.softcap == 0 ? 1 : 1 - std::pow(z(r, k) / c.softcap, 2);
        gradients.push_back(scale * (p * by_p - less) * cap);
        parts.push_back(std::abs(scale) * (p * std::abs(by_p) * (1 + std::abs(lse[at])) + less));
      }
  }
};

// Equal, both NaN, or nearer than `bound`.
inline bool is_near(double is, double want, double bound) {
  return std::isnan(want) ? std::isnan(is) : is == want || std::abs(is - want) <= bound;
}

}  // namespace kaio::tests
