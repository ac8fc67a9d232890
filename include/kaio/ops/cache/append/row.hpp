#pragma once
// The row of append_kv that a group of lanes has: which row it is, how its elements are kept, and where it is
// read and written.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/cache/append/place.hpp>
#include <kaio/ops/cache/append/problem.hpp>
#include <kaio/ops/cache/common/sequences.hpp>
#include <kaio/ops/shared/element_type.hpp>
#include <kaio/ops/shared/row_of_thread.hpp>

#include <cstdint>

namespace kaio::ops {

struct append_row {
  row_place place;
  val<bool> inside;  // whether the row exists
  val<u32> batch, token, head;
  val<bool> is_key, is_query;

  static constexpr append_row find(thread t, const val<append_problem>& problem) {
    const row_place place = place_of_thread(t, t.let(problem[&append_problem::lanes_log]));
    const val inside = t.let(place.row < problem[&append_problem::rows]);
    const val key_heads = t.let(problem[&append_problem::key_heads]);
    const val of_token = t.let(key_heads * 2u + problem[&append_problem::query_heads]);
    const val tokens = t.let(problem[&append_problem::tokens]);
    const val of_all = t.let(place.row / of_token);
    const val index = t.let(place.row - of_all * of_token);
    const val batch = t.let(of_all / tokens);
    const val token = t.let(of_all - batch * tokens);
    const val is_key = t.let(index < key_heads);
    const val is_query = t.let(index >= key_heads * 2u);
    const val head =
        t.let(select(is_key, index, select(is_query, index - key_heads * 2u, index - key_heads)));
    return {place, inside, batch, token, head, is_key, is_query};
  }
  // A number of the cache of K or V that the row belongs to; of K for Q.
  template <class Member>
  constexpr auto number(thread t, const val<append_problem>& problem, Member member) const {
    const auto of_k = problem[&append_problem::of_k], of_v = problem[&append_problem::of_v];
    return t.let(select(any_of(is_key, is_query), of_k[member], of_v[member]));
  }
};

// The elements of a row, in the tensor and in the cache.
struct append_format {
  val<u32> type, shift;  // type: an element_type of 1 << shift bytes
  val<u32> size, pairs;  // elements, and pairs that are rotated
  val<u32> kept;         // a kept_type
  val<bool> is_same;     // whether the cache keeps elements of this type
  val<bool> aligned, interleaved;

  static constexpr append_format of(thread t, const val<append_problem>& problem, const append_row& row) {
    const auto tables = problem[&append_problem::tables];
    const val type = t.let(problem[&append_problem::type]);
    const val shift = t.let(select(type == static_cast<u32>(element_type::f32), 2u, 1u));
    const val size = row.number(t, problem, &cache_rows::size);
    const val pairs = t.let(select(any_of(row.is_key, row.is_query), tables[&rotary_tables::pairs], 0u));
    const val kept = t.let(
        select(row.is_query, static_cast<u32>(kept_type::same), row.number(t, problem, &cache_rows::kept)));
    const val is_same = t.let(kept == static_cast<u32>(kept_type::same));
    const val aligned = t.let(select(row.is_query, problem[&append_problem::q_aligned],
                                     row.number(t, problem, &cache_rows::aligned)) != 0u);
    const val interleaved = t.let(tables[&rotary_tables::interleaved] != 0u);
    return {type, shift, size, pairs, kept, is_same, aligned, interleaved};
  }
};

namespace detail {

// The destinations of a row of K or V and of its scale, which is in page `scale_page`.
struct kept_row {
  val<u64> address, scale;
};
template <class Rows>
constexpr kept_row find_kept_row(thread t, const Rows& rows, const append_place& place,
                                 const val<u32>& scale_page, const val<u32>& head, const val<u32>& shift) {
  const auto rows_at = rows[&cache_rows::at];
  const auto offset = [&](const val<u32>& of, const auto& page, const auto& row, const auto& of_head) {
    return t.let(cast<u64>(cast<i64>(of) * page + cast<i64>(place.row) * row + cast<i64>(head) * of_head));
  };
  const val at = offset(place.page, rows_at[&page_strides::page], rows_at[&page_strides::row],
                        rows_at[&page_strides::head]);
  const val of_scale = offset(scale_page, rows[&cache_rows::scale_page], rows[&cache_rows::scale_row],
                              rows[&cache_rows::scale_head]);
  const val same = t.let(rows[&cache_rows::kept] == static_cast<u32>(kept_type::same));
  return {t.let(rows_at[&page_strides::address] + (at << select(same, shift, 0u))),
          t.let(rows[&cache_rows::scale] + of_scale * sizeof(f32))};
}

}  // namespace detail

// Source and destination of a row.
struct append_ends {
  var<bool> writes;             // whether the row is written
  var<u64> from, to, scale_at;  // addresses
  var<u32> position;            // for the tables

  constexpr explicit append_ends(thread t)
      : writes(t, false), from(t, u64{0}), to(t, u64{0}), scale_at(t, u64{0}), position(t, 0u) {}

  // A row of Q at its place.
  constexpr void find_query(thread t, const val<append_problem>& problem, const append_row& row,
                            const append_place& of, const val<u32>& shift) {
    writes = of.exists;
    from = row_address(t, problem[&append_problem::q], row.batch, row.token, row.head, shift);
    to = row_address(t, problem[&append_problem::q_out], row.batch, row.token, row.head, shift);
  }
  // A row of K or V; source and cache: members of the problem.
  template <class Source, class Cache>
  constexpr void find_cached(thread t, const val<append_problem>& problem, const append_row& row,
                             const append_place& of, const val<u32>& shift, Source source, Cache cache) {
    const auto rows = problem[cache];
    from = row_address(t, problem[source], row.batch, row.token, row.head, shift);
    const val by_sequence =
        t.let(rows[&cache_rows::scales_are] == static_cast<u32>(scale_source::of_sequence));
    const val scale_page = t.let(select(by_sequence, of.sequence, of.page));
    const detail::kept_row found = detail::find_kept_row(t, rows, of, scale_page, row.head, shift);
    to = found.address;
    scale_at = found.scale;
  }
  // A row that exists.
  constexpr void find(thread t, const val<append_problem>& problem, const append_row& row,
                      const val<u32>& shift) {
    const append_place of = place_of_token(t, problem, row.batch, row.token, row.is_query);
    position = of.position;
    if (auto query = t.when(row.is_query)) find_query(t, problem, row, of, shift);
    if (auto cached = t.otherwise()) {
      writes = of.has_place;
      if (auto key = t.when(row.is_key))
        find_cached(t, problem, row, of, shift, &append_problem::k, &append_problem::of_k);
      if (auto value = t.otherwise())
        find_cached(t, problem, row, of, shift, &append_problem::v, &append_problem::of_v);
    }
  }
};

}  // namespace kaio::ops
