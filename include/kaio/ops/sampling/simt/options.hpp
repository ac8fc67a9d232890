#pragma once
// What a row of sample is drawn by: numbers of the call, or of the row's elements of tensors.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/sampling/common/problem.hpp>

#include <cstdint>

namespace kaio::ops {

constexpr val<u64> place_of_number(thread t, const auto& numbers, const val<u32>& row, u32 bytes) {
  return t.let(numbers[&row_numbers::address] +
               cast<u64>(numbers[&row_numbers::stride] * cast<i64>(row)) * u64{bytes});
}
template <class N>
constexpr val<N> number_of_row(thread t, const auto& numbers, const val<u32>& row) {
  var result(t, bit_cast<N>(numbers[&row_numbers::value]));
  const val place = place_of_number(t, numbers, row, 4);
  if (auto given = t.when(numbers[&row_numbers::address] != 0u)) result = pointer_at<inout<N>>(t, place)[0];
  return t.let(result);
}
struct row_choice {
  val<bool> greedy, by_k, by_p, by_min_p;
  val<u32> k;
  val<f32> p, min_p, temperature;

  static constexpr row_choice of(thread t, const val<sample_problem>& problem, const val<u32>& row,
                                 const val<u32>& size) {
    const val temperature = number_of_row<f32>(t, problem[&sample_problem::temperature], row);
    const val k = number_of_row<i32>(t, problem[&sample_problem::top_k], row);
    const val p = number_of_row<f32>(t, problem[&sample_problem::top_p], row);
    const val min_p = number_of_row<f32>(t, problem[&sample_problem::min_p], row);
    const val greedy = t.let(!(temperature > 0.0f));
    const val by_k = t.let(all_of(k > 0, cast<u32>(k) < size));
    return {greedy,
            by_k,
            t.let(p < 1.0f),
            t.let(min_p > 0.0f),
            t.let(select(by_k, cast<u32>(k), size)),
            p,
            t.let(min(max(min_p, 0.0f), 1.0f)),
            t.let(select(greedy, 1.0f, temperature))};
  }
};

}  // namespace kaio::ops
