#pragma once
// rotary: turns every row of X by its token's position, into Y. A group of lanes has a row; a lane takes one
// unit of eight pairs (common/rotate.hpp) at a time. Elements that are not rotated are copied.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/cache/common/problem.hpp>
#include <kaio/ops/cache/common/rotate.hpp>
#include <kaio/ops/cache/common/sequences.hpp>
#include <kaio/ops/shared/row_of_thread.hpp>

#include <cstdint>

namespace kaio::ops {

namespace detail {

constexpr void rotate_row(thread t, const val<rotary_problem>& problem, const row_place& place,
                          const val<u32>& batch, const val<u32>& token, const val<u32>& head,
                          const val<u32>& position) {
  const val type = t.let(problem[&rotary_problem::type]);
  const val shift = t.let(select(type == static_cast<u32>(element_type::f32), 2u, 1u));
  const val from = row_address(t, problem[&rotary_problem::x], batch, token, head, shift);
  const val to = row_address(t, problem[&rotary_problem::y], batch, token, head, shift);
  const val size = t.let(problem[&rotary_problem::size]);
  const val aligned = t.let(problem[&rotary_problem::aligned] != 0u);
  const auto tables = problem[&rotary_problem::tables];
  const val pairs = t.let(tables[&rotary_tables::pairs]);
  const val interleaved = t.let(tables[&rotary_tables::interleaved] != 0u);
  const val units = t.let((pairs + (run_size - 1)) / run_size);
  for (auto u : t.range(place.lane, units, place.lanes).no_unroll()) {
    const row_unit unit = unit_of(t, t.let(u), pairs, size, interleaved);
    auto x = array_of<2 * run_size>([&](u32) { return var(t, 0.0f); });
    for (u32 r = 0; r < 2; ++r)
      load_run(t, type, run_of(t, from, shift, unit.first[r], unit.limit[r], aligned), x, r * run_size);
    rotate_unit(t, tables, position, unit, x);
    for (u32 r = 0; r < 2; ++r)
      store_run(t, type, run_of(t, to, shift, unit.first[r], unit.limit[r], aligned), x, r * run_size);
  }
  if (auto apart = t.when(problem[&rotary_problem::in_place] == 0u)) {
    const val first = t.let(cast<u64>(pairs * 2u) << shift);
    const val rest_from = t.let(from + first), rest_to = t.let(to + first);
    const val bytes = t.let((size - pairs * 2u) << shift);
    copy_row(t, rest_from, rest_to, bytes, shift, aligned, place.lane, place.lanes);
  }
}

// Calls f(position) if the token belongs to a sequence. problem: a rotary_problem.
template <class Problem, class F>
constexpr void with_position(thread t, const Problem& problem, const val<u32>& batch, const val<u32>& token,
                             const F& f) {
  var position(t, token);
  var sequence(t, batch);
  var found(t, true);
  const val cu = t.let(problem[&rotary_problem::cu]);
  if (auto packed = t.when(cu != 0u)) {
    const token_place of = find_sequence(t, cu, t.let(problem[&rotary_problem::sequences]), token);
    found = of.found;
    sequence = of.sequence;
    position = token - of.first;
  }
  if (auto belongs = t.when(found)) {
    const auto numbers = problem[&rotary_problem::positions];
    if (auto given = t.when(numbers[&token_numbers::address] != 0u))
      position = as_index(t, number_of_token(t, numbers, batch, token));
    const val offsets = t.let(problem[&rotary_problem::offsets]);
    if (auto shifted = t.when(offsets != 0u))
      position += cast<u32>(pointer_at<in<i32>>(t, offsets)[t.let(sequence)]);
    f(t.let(position));
  }
}

}  // namespace detail

inline constexpr auto rotary_rows =
    kaio::kernel<"rotary", row_threads>([](thread t, val<rotary_problem> problem) {
      const row_place place = place_of_thread(t, t.let(problem[&rotary_problem::lanes_log]));
      if (auto exists = t.when(place.row < problem[&rotary_problem::rows])) {
        const val heads = t.let(problem[&rotary_problem::heads]);
        const val tokens = t.let(problem[&rotary_problem::tokens]);
        const val of_all = t.let(place.row / heads);
        const val head = t.let(place.row - of_all * heads);
        const val batch = t.let(of_all / tokens);
        const val token = t.let(of_all - batch * tokens);
        detail::with_position(t, problem, batch, token, [&](const val<u32>& position) {
          detail::rotate_row(t, problem, place, batch, token, head, position);
        });
      }
    });

}  // namespace kaio::ops
