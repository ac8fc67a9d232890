#pragma once
// Sums and maxima of a thread's own numbers. A tree has a smaller rounding error than a chain, and shorter
// waits.

#include <kaio/dsl/dsl.hpp>

namespace kaio::ops {

// Combines neighbours, then pairs of these, and so on. The number of values is a power of two.
template <u32 N, class Values, class Combine>
constexpr val<f32> combine_tree(thread t, const Values& values, const Combine& combine) {
  if constexpr (N == 1) {
    return t.let(values[0] + 0.0f);
  } else {
    const auto half =
        array_of<N / 2>([&](u32 i) { return t.let(combine(values[2 * i], values[2 * i + 1])); });
    if constexpr (N == 2)
      return half[0];
    else
      return combine_tree<N / 2>(t, half, combine);
  }
}
template <u32 N, class Values>
constexpr val<f32> tree_sum(thread t, const Values& values) {
  return combine_tree<N>(t, values, [](const auto& a, const auto& b) { return a + b; });
}
template <u32 N, class Values>
constexpr val<f32> tree_largest(thread t, const Values& values) {
  return combine_tree<N>(t, values, [](const auto& a, const auto& b) { return max(a, b); });
}

}  // namespace kaio::ops
