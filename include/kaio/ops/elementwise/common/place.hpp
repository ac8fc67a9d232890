#pragma once
// Where an item is in each operand.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/elementwise/common/problem.hpp>

#include <cstdint>

namespace kaio::ops::detail {

// Adds coordinate * stride to the address of each operand. S: the struct of `problem`.
template <class S, class P, class Addresses>
constexpr void move_places(thread t, const P& problem, const val<u32>& coordinate, u32 dimension,
                           Addresses& at) {
  for (u32 i = 0; i < at.size(); ++i) {
    const val stride = t.let(problem[&S::strides][i * elementwise_dimensions + dimension]);
    at[i] = mad_wide(coordinate, stride, at[i]);
  }
}

// Moves along dimension `D` and those outside of it; `rest` counts their items.
template <class S, u32 D, class P, class Addresses, class Rest>
constexpr void place_outer(thread t, const P& problem, Addresses& at, Rest& rest) {
  if constexpr (D + 1 < elementwise_dimensions) {
    if (auto more = t.when(problem[&S::rank] > D + 1)) {
      const val of_all = t.let(rest);
      const quotient by = divide(t, of_all, problem[&S::extents][D]);
      move_places<S>(t, problem, by.rest, D, at);
      rest = by.whole;
      place_outer<S, D + 1>(t, problem, at, rest);
    }
  }
}

// The addresses of an item in all operands.
template <u32 Operands, class P>
constexpr auto places_of_item(thread t, const P& problem, const val<u32>& item) {
  using S = elementwise_problem<Operands>;
  auto at = array_of<Operands>([&](u32 i) { return var(t, t.let(problem[&S::addresses][i])); });
  var rest(t, item);
  place_outer<S, 0>(t, problem, at, rest);
  const val outermost = t.let(rest);
  move_places<S>(t, problem, outermost, elementwise_dimensions - 1, at);
  return array_of<Operands>([&](u32 i) { return t.let(at[i]); });
}

}  // namespace kaio::ops::detail
