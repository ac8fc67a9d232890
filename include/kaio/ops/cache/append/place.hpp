#pragma once
// The destination of a new token, and the position that rotates it. Everything is read on the device. If the
// cache has no row for a token, the token has no place, whatever the numbers are.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/cache/append/problem.hpp>
#include <kaio/ops/cache/common/places.hpp>
#include <kaio/ops/cache/common/sequences.hpp>

#include <cstdint>

namespace kaio::ops {

struct append_place {
  val<bool> exists;  // the token belongs to a sequence
  val<u32> sequence;
  val<bool> has_place;  // and the cache has a row for it:
  val<u32> page, row;   // row `row` of page `page`
  val<u32> position;    // for the tables
};

// `problem`: an append_problem, or a member that is one.
template <class Problem>
constexpr append_place place_of_token(thread t, const Problem& problem, const val<u32>& batch,
                                      const val<u32>& token, const val<bool>& is_query) {
  const val key_tokens = t.let(problem[&append_problem::key_tokens]);
  const val query_tokens = t.let(problem[&append_problem::query_tokens]);
  var exists(t, token < select(is_query, query_tokens, key_tokens));
  var sequence(t, batch), index(t, token);  // index of the token in its sequence
  var count(t, key_tokens);                 // new tokens of the sequence
  const val cu = t.let(problem[&append_problem::cu]);
  if (auto packed = t.when(cu != 0u)) {
    const token_place of = find_sequence(t, cu, t.let(problem[&append_problem::sequences]), token);
    exists = of.found;
    sequence = of.sequence;
    index = token - of.first;
    count = detail::number_at(t, cu, t.let(of.sequence + 1u)) - of.first;
  }
  const auto places = problem[&append_problem::places];
  var has_place(t, false);
  var page(t, 0u), row(t, 0u), position(t, 0u);
  if (auto belongs = t.when(exists)) {
    const auto slots = problem[&append_problem::slots];
    const val by_slots = t.let(slots[&token_numbers::address] != 0u);
    const val own = t.let(sequence);
    if (auto flat = t.when(by_slots)) {
      const val slot = as_index(t, number_of_token(t, slots, batch, token));
      const val page_rows = t.let(places[&cache_places::page_rows]);
      page = slot / page_rows;
      row = slot - page * page_rows;
      has_place = page < places[&cache_places::pages];
    }
    if (auto listed = t.otherwise()) {
      const val length = length_of_sequence(t, places, own);
      // The key that the first new token becomes.
      const val first = t.let(select(places[&cache_places::last_page_len] != 0u, length - count, length));
      const val key = t.let(first + index);
      const key_place of = place_of_key(t, places, own, key);
      page = of.page;
      row = of.row;
      has_place = all_of(of.exists, key >= first);  // a negative first key has wrapped around
      position = select(all_of(is_query, problem[&append_problem::q_at_first] != 0u), first, key);
      const val padding = t.let(places[&cache_places::left_padding]);
      if (auto padded = t.when(padding != 0u)) position -= detail::number_at(t, padding, own);
    }
    const auto positions = problem[&append_problem::positions];
    if (auto given = t.when(positions[&token_numbers::address] != 0u))
      position = as_index(t, number_of_token(t, positions, batch, token));
  }
  return {t.let(exists), t.let(sequence), t.let(has_place), t.let(page), t.let(row), t.let(position)};
}

}  // namespace kaio::ops
