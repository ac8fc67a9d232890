#pragma once
// Copies rows of the weight, bit by bit. A group of 1 to 256 threads has a token.

#include <kaio/ops/embedding/common/problem.hpp>
#include <kaio/ops/shared/element_run.hpp>
#include <kaio/ops/shared/row_of_thread.hpp>

namespace kaio::ops {

constexpr void copy_embedding(thread t, const val<embedding_problem>& problem) {
  const auto of = problem[&embedding_problem::of];
  const row_place place = place_of_thread(t, t.let(problem[&embedding_problem::lanes_log]));
  if (auto exists = t.when(place.row < of[&embedding_tokens::tokens])) {
    const embedding_token token = token_of(t, of, place.row);
    const val shift = t.let(problem[&embedding_problem::shift]);
    const val to = t.let(problem[&embedding_problem::out] + (cast<u64>(token.row) << shift));
    const val from = t.let(problem[&embedding_problem::weight] +
                           (cast<u64>(token.index * problem[&embedding_problem::weight_row]) << shift));
    const val bytes = t.let(problem[&embedding_problem::size] << shift);
    const val aligned = t.let(problem[&embedding_problem::aligned] != 0u);
    if (auto known = t.when(token.known))
      copy_row(t, from, to, bytes, shift, aligned, place.lane, place.lanes);
    if (auto unknown = t.otherwise()) {
      // Elements have two or four bytes.
      const auto memory = pointer_at<out<u16>>(t, to);
      for (auto i : t.range(place.lane, t.let(bytes / 2u), place.lanes).no_unroll()) memory[i] = u16{0};
      const val errors = t.let(problem[&embedding_problem::errors]);
      if (auto counted = t.when(all_of(errors != 0u, place.lane == 0u)))
        atomic_add(pointer_at<inout<u32>>(t, errors)[0], 1u);
    }
  }
}

// Launched with grid(row_blocks(tokens, lanes_log)).
template <class = void>
inline constexpr auto embedding_rows =
    kaio::kernel<"embedding_rows", row_threads, kernel_options{.target = {70}}>(
        [](thread t, val<embedding_problem> problem) { copy_embedding(t, problem); });

}  // namespace kaio::ops
