#pragma once
// Adds the rows of a token's experts, with weights, in the order of its choices. A thread has eight columns of
// a token, and loads the words of a few rows at a time. A group of 1 to 256 threads has a part of a token.

#include <kaio/ops/experts/common/problem.hpp>
#include <kaio/ops/shared/element_run.hpp>
#include <kaio/ops/shared/row_elements.hpp>
#include <kaio/ops/shared/row_of_thread.hpp>

namespace kaio::ops {

template <dsl::scalar T>
struct combine_body {
  using p = combine_problem;
  using elements = row_elements<T, 70>;
  static constexpr u32 batch = 16 / elements::words;  // rows whose runs a thread has in flight

  struct chosen_row {
    val<bool> exists;
    val<u32> row;
    val<f32> weight;  // 0 if there is no row
  };
  template <class Problem>
  static constexpr chosen_row choice(thread t, const Problem& problem, const val<u32>& token,
                                     const val<u32>& j) {
    var row(t, 0u);
    var weight(t, 0.0f);
    var exists(t, j < problem[&p::k]);
    if (auto is_choice = t.when(exists)) {
      const val positions = row_of_experts(t, problem[&p::positions], token, 2u);
      const val weights = row_of_experts(t, problem[&p::weights], token, 2u);
      const val found = t.let(pointer_at<in<u32>>(t, positions)[j]);
      const val own = t.let(pointer_at<in<f32>>(t, weights)[j]);
      exists = found < problem[&p::rows];
      row = found;
      weight = select(exists, own, 0.0f);
    }
    return {t.let(exists), t.let(row), t.let(weight)};
  }

  template <class Problem>
  static constexpr void run(thread t, const Problem& problem) {
    const row_place place = place_of_thread(t, t.let(problem[&p::lanes_log]));
    const quotient of = divide(t, place.row, problem[&p::parts]);
    const val token = of.whole;
    const val size = t.let(problem[&p::size]), k = t.let(problem[&p::k]);
    const val first = t.let((of.rest * place.lanes + place.lane) * run_size);
    if (auto exists = t.when(all_of(token < problem[&p::tokens], first < size))) {
      const u32 shift = sizeof(T) == 4 ? 2 : 1;
      const val out_type = t.let(problem[&p::out_type]);
      const val out_shift = t.let(select(out_type == static_cast<u32>(element_type::f32), 2u, 1u));
      const val to = row_of_experts(t, problem[&p::out], token, out_shift);
      const val y_aligned = t.let(problem[&p::y_aligned] != 0u);
      const val out_aligned = t.let(problem[&p::out_aligned] != 0u);
      const val accumulate = t.let(problem[&p::accumulate] != 0u);
      const element_run stored = run_of(t, to, out_shift, first, size, out_aligned);
      auto sums = array_of<run_size>([&](u32) { return var(t, 0.0f); });
      if (auto adds = t.when(accumulate)) load_run(t, out_type, stored, sums, 0);
      const val whole = t.let(all_of(y_aligned, size - first >= run_size));
      if (auto by_words = t.when(whole))
        for (auto b : t.range(0u, k, batch).no_unroll()) {
          const auto rows = array_of<batch>([&](u32 i) { return choice(t, problem, token, t.let(b + i)); });
          auto words = array_of<batch * elements::words>([&](u32) { return var(t, 0u); });
          for (u32 i = 0; i < batch; ++i)
            if (auto has = t.when(rows[i].exists)) {
              const val row = row_of_experts(t, problem[&p::y], rows[i].row, shift);
              elements::load_words(t, t.let(row + (cast<u64>(first) << shift)), words, i * elements::words);
            }
          for (u32 i = 0; i < batch; ++i)
            for (u32 e = 0; e < run_size; ++e) {
              const val x = elements::value(t, words, i * elements::words, e);
              sums[e] = fma(rows[i].weight, x, sums[e]);
            }
        }
      if (auto one_by_one = t.otherwise())
        for (auto j : t.range(0u, k).no_unroll()) {
          const chosen_row own = choice(t, problem, token, t.let(j));
          if (auto has = t.when(own.exists)) {
            const val row = row_of_experts(t, problem[&p::y], own.row, shift);
            const auto memory = pointer_at<in<typename elements::element>>(t, row);
            for (u32 e = 0; e < run_size; ++e)
              if (auto inside = t.when(size - first > e)) {
                const val x = t.let(elements::stored::read(memory[first + e]));
                sums[e] = fma(own.weight, x, sums[e]);
              }
          }
        }
      store_run(t, out_type, stored, sums, 0);
    }
  }
};

// Launched with grid(row_blocks(tokens * parts, lanes_log)).
template <dsl::scalar T>
inline constexpr auto combine_rows =
    kaio::kernel<"combine_experts_" + type_name<T>, row_threads, kernel_options{.target = {70}}>(
        [](thread t, val<combine_problem> problem) { combine_body<T>::run(t, problem); });

}  // namespace kaio::ops
