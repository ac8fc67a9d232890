#pragma once
// The operators of the reductions that the library compiles.

#include <kaio/dsl/dsl.hpp>

namespace kaio::ops {

struct sum_operator {
  static constexpr dsl::fixed_string name = "sum";
  constexpr auto operator()(const auto& a, const auto& b) const { return a + b; }
};
struct max_operator {
  static constexpr dsl::fixed_string name = "max";
  constexpr auto operator()(const auto& a, const auto& b) const { return max_nan(a, b); }
};
struct min_operator {
  static constexpr dsl::fixed_string name = "min";
  constexpr auto operator()(const auto& a, const auto& b) const { return min_nan(a, b); }
};
// A sum has the count 1, a mean that of the elements.
struct divided_by_count {
  constexpr auto operator()(const auto& sum, const val<u64>& count) const { return sum / cast<f32>(count); }
};

}  // namespace kaio::ops
