#pragma once
// Cases of a grid of options that has too many cases to run all: each next case brings the most pairs of
// values that no case before it had.
//
//   covering_cases grid({3, 2, 2}, budget);              // how many values each option has
//   while (const auto* values = grid.next(cost)) run(*values);

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace kaio::tests {

class covering_cases {
 public:
  using values = std::vector<std::uint32_t>;  // of each option, from 0 on

  covering_cases(values counts, double budget) : counts_(std::move(counts)), budget_(budget) {
    for (const std::uint32_t count : counts_) {
      firsts_.push_back(total_);
      total_ += count;
    }
    seen_.resize(std::size_t{total_} * total_);
  }
  // Null where the budget, the sum of all costs, is spent.
  template <class Cost>
  const values* next(const Cost& cost) {
    if (budget_ <= 0) return nullptr;
    values best;
    double most = -1, its_cost = 0;
    for (int i = 0; i < 200; ++i) {
      values drawn;
      for (const std::uint32_t count : counts_)
        drawn.push_back(static_cast<std::uint32_t>(engine_() % count));
      const double of_drawn = cost(drawn);
      const double gain = fresh_pairs(drawn) / std::sqrt(of_drawn);
      if (gain <= most) continue;
      most = gain;
      its_cost = of_drawn;
      best = drawn;
    }
    budget_ -= its_cost;
    for_pairs(best, [&](std::size_t pair) { seen_[pair] = true; });
    last_ = best;
    return &last_;
  }
  // Whether every pair of values of the two options occurred; of an option with itself, every value.
  bool covers(std::size_t a, std::size_t b) const {
    for (std::uint32_t x = 0; x < counts_[a]; ++x)
      for (std::uint32_t y = 0; y < counts_[b]; ++y)
        if ((a != b || x == y) && !seen_[place(a, x, b, y)]) return false;
    return true;
  }

 private:
  std::size_t place(std::size_t a, std::uint32_t x, std::size_t b, std::uint32_t y) const {
    return std::size_t{firsts_[a] + x} * total_ + firsts_[b] + y;
  }
  template <class F>
  void for_pairs(const values& v, const F& f) const {
    for (std::size_t a = 0; a < v.size(); ++a)
      for (std::size_t b = 0; b < v.size(); ++b) f(place(a, v[a], b, v[b]));
  }
  double fresh_pairs(const values& v) const {
    double count = 0;
    for_pairs(v, [&](std::size_t pair) { count += seen_[pair] ? 0 : 1; });
    return count;
  }

  values counts_, firsts_, last_;
  double budget_;
  std::uint32_t total_ = 0;
  std::vector<bool> seen_;
  std::mt19937_64 engine_{1};
};

}  // namespace kaio::tests
