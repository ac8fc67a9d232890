#pragma once
// Finds tokens in packed sequences, and the numbers of tokens (positions, slots).

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/cache/common/problem.hpp>

#include <cstdint>
#include <limits>

namespace kaio::ops {

// The place of a token in packed sequences: sequence b has tokens cu[b] to before cu[b + 1].
struct token_place {
  val<u32> sequence, first;  // first: the sequence's first token
  val<bool> found;
};
constexpr token_place find_sequence(thread t, const val<u64>& cu, const val<u32>& sequences,
                                    const val<u32>& token) {
  const auto begins = pointer_at<in<i32>>(t, cu);
  const val at = t.let(cast<i32>(token));
  var below(t, 0u), above(t, sequences);  // below: the last sequence that begins at or before the token
  for (auto l : t.loop()) {
    l.break_if(above - below <= 1u);
    const val middle = t.let((below + above) / 2u);
    const val before = t.let(begins[middle] <= at);
    below = select(before, middle, below);
    above = select(before, above, middle);
  }
  const val sequence = t.let(below);
  const val first = t.let(begins[sequence]);
  return {sequence, t.let(cast<u32>(first)), t.let(all_of(first <= at, begins[sequence + 1u] > at))};
}

// The number of a token, as i64.
template <class Numbers>
constexpr val<i64> number_of_token(thread t, const Numbers& numbers, const val<u32>& batch,
                                   const val<u32>& token) {
  var result(t, i64{0});
  const val at = t.let(cast<i64>(batch) * numbers[&token_numbers::batch] +
                       cast<i64>(token) * numbers[&token_numbers::token]);
  const val address = t.let(numbers[&token_numbers::address]);
  if (auto wide = t.when(numbers[&token_numbers::are_64] != 0u)) result = pointer_at<in<i64>>(t, address)[at];
  if (auto narrow = t.otherwise()) result = cast<i64>(pointer_at<in<i32>>(t, address)[at]);
  return t.let(result);
}

// The number as an index of a table. Numbers that no table has become the largest one.
constexpr val<u32> as_index(thread t, const val<i64>& number) {
  constexpr u32 none = std::numeric_limits<u32>::max();
  return t.let(select(all_of(number >= 0, number < i64{none}), cast<u32>(number), none));
}

}  // namespace kaio::ops
