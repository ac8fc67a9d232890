#pragma once
// sample in double precision: the kept tokens of a row, and the share of the draw that each one has.

#include "tests/ops/support.hpp"

#include <kaio/ops/sample.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace kaio::tests {

// Philox-4x32-10.
inline std::array<u32, 4> philox(std::array<u32, 4> counter, std::array<u32, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const u64 first = u64{0xd2511f53u} * counter[0], second = u64{0xcd9e8d57u} * counter[2];
    counter = {static_cast<u32>(second >> 32) ^ counter[1] ^ key[0], static_cast<u32>(second),
               static_cast<u32>(first >> 32) ^ counter[3] ^ key[1], static_cast<u32>(first)};
    key[0] += 0x9e3779b9u;
    key[1] += 0xbb67ae85u;
  }
  return counter;
}
// The draw of sample, from 0 to 1.
inline double draw_of(u64 seed, u64 offset) {
  const auto words = philox({static_cast<u32>(offset), static_cast<u32>(offset >> 32), 0, 0},
                            {static_cast<u32>(seed), static_cast<u32>(seed >> 32)});
  return std::ldexp(static_cast<double>(u64{words[1]} << 32 | words[0]), -64);
}

struct sampling {
  float temperature = 1;
  i32 top_k = 0;
  float top_p = 1, min_p = 0;
};

struct kept_tokens {
  std::vector<double> shares;  // by index; 0: not kept
  double lse = -std::numeric_limits<double>::infinity();
  bool is_clear = true;  // rounding can change none of the sets
};

// x: +inf as the largest f32, NaN as -inf.
inline kept_tokens kept_of(const std::vector<double>& x, const sampling& how) {
  kept_tokens result;
  result.shares.assign(x.size(), 0);
  std::vector<std::size_t> order(x.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::erase_if(order, [&](std::size_t i) { return std::isinf(x[i]); });
  if (order.empty()) return result;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return x[a] > x[b]; });
  const double t = how.temperature > 0 ? double{how.temperature} : 1.0, top = x[order[0]];
  const auto weight = [&](std::size_t i) { return std::exp((x[i] - top) / t); };
  double all = 0;
  for (const std::size_t i : order) all += weight(i);
  result.lse = top / t + std::log(all);
  if (!(how.temperature > 0)) {
    result.shares[order[0]] = 1;
    return result;
  }
  if (how.top_k > 0 && static_cast<std::size_t>(how.top_k) < order.size())
    order.resize(static_cast<std::size_t>(how.top_k));
  double total = 0, before = 0, kept = 0;
  for (const std::size_t i : order) total += weight(i);
  const double goal = double{how.top_p} * total;
  for (std::size_t n = 0; n < order.size(); ++n) {
    if (how.top_p < 1 && n != 0) {
      if (std::abs(before - goal) < 1e-5 * total) result.is_clear = false;
      if (before >= goal) break;
    }
    const double one = weight(order[n]);
    before += one;
    if (how.min_p > 0 && std::abs(one - double{how.min_p}) < 1e-5) result.is_clear = false;
    if (one < double{how.min_p}) continue;
    result.shares[order[n]] = one;
    kept += one;
  }
  for (double& one : result.shares) one /= kept;
  return result;
}

// The token is kept, and the draw is in its share.
inline void require_drawn(const kept_tokens& kept, i64 token, double draw) {
  REQUIRE(token >= 0);
  REQUIRE(static_cast<std::size_t>(token) < kept.shares.size());
  double before = 0;
  for (i64 i = 0; i < token; ++i) before += kept.shares[static_cast<std::size_t>(i)];
  const double share = kept.shares[static_cast<std::size_t>(token)], slack = 4e-6;
  CAPTURE(token, share, before, draw, kept.is_clear);
  if (!kept.is_clear) return;
  REQUIRE(share > 0);
  REQUIRE(draw >= before - slack);
  REQUIRE(draw <= before + share + slack);
}

template <class T>
double logit_of(T one) {
  const double x = to_double(one), largest = double{std::numeric_limits<float>::max()};
  return std::isnan(x) ? -std::numeric_limits<double>::infinity()
                       : std::min(x, std::isinf(x) && x < 0 ? x : largest);
}

}  // namespace kaio::tests
