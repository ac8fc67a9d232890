#pragma once
// Copies pages, and rows of sequences out of pages. A group of lanes has a row of a head.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/cache/common/places.hpp>
#include <kaio/ops/cache/common/problem.hpp>
#include <kaio/ops/cache/common/sequences.hpp>
#include <kaio/ops/cache/copy/problem.hpp>
#include <kaio/ops/shared/element_run.hpp>
#include <kaio/ops/shared/row_of_thread.hpp>

#include <cstdint>

namespace kaio::ops {

// For each pair (from, to) and each layer, copies row `row` of head `head` of page `from` to page `to`.
// Blocks along y divide the layers.
inline constexpr auto copy_pages_rows =
    kaio::kernel<"copy_pages", row_threads>([](thread t, val<copy_pages_problem> problem) {
      const row_place place = place_of_thread(t, t.let(problem[&copy_pages_problem::lanes_log]));
      if (auto inside = t.when(place.row < problem[&copy_pages_problem::rows])) {
        const val heads = t.let(problem[&copy_pages_problem::heads]);
        const val page_rows = t.let(problem[&copy_pages_problem::page_rows]);
        const val of_all = t.let(place.row / heads);
        const val head = t.let(place.row - of_all * heads);
        const val copy = t.let(of_all / page_rows);
        const val row = t.let(of_all - copy * page_rows);
        const val pair_at = t.let(cast<i64>(copy) * problem[&copy_pages_problem::pair]);
        const auto pairs = pointer_at<in<i32>>(t, t.let(problem[&copy_pages_problem::pairs]));
        const val from = t.let(cast<u32>(pairs[pair_at]));
        const val to = t.let(cast<u32>(pairs[pair_at + problem[&copy_pages_problem::pair_second]]));
        const val pages = t.let(problem[&copy_pages_problem::pages]);
        const val moves = t.let(all_of(from < pages, to < pages, from != to));
        if (auto exists = t.when(moves)) {
          const val shift = t.let(problem[&copy_pages_problem::shift]);
          const val bytes = t.let(problem[&copy_pages_problem::bytes]);
          const val aligned = t.let(problem[&copy_pages_problem::aligned] != 0u);
          const val layer = t.let(problem[&copy_pages_problem::layer]);
          const auto address = [&](const val<u32>& page) {
            return t.let(problem[&copy_pages_problem::address] +
                         (cast<u64>(cast<i64>(page) * problem[&copy_pages_problem::page] +
                                    cast<i64>(row) * problem[&copy_pages_problem::row] +
                                    cast<i64>(head) * problem[&copy_pages_problem::head])
                          << shift));
          };
          const val source = address(from), target = address(to);
          const val layers = t.let(problem[&copy_pages_problem::layers]);
          for (auto l : t.range(block_idx_y(), layers, grid_dim_y()).no_unroll()) {
            const val of_layer = t.let(cast<u64>(cast<i64>(l) * layer) << shift);
            const val source_row = t.let(source + of_layer), target_row = t.let(target + of_layer);
            copy_row(t, source_row, target_row, bytes, shift, aligned, place.lane, place.lanes);
          }
        }
      }
    });

namespace detail {

// Loads a run of 8-bit elements, as f32.
template <class Vars>
constexpr void load_kept(thread t, const val<u32>& kept, const element_run& run, Vars& x) {
  auto bytes = array_of<run_size>([&](u32) { return var(t, 0u); });
  if (auto whole = t.when(run.whole)) {
    const val words = pointer_at<in<u32x2>>(t, run.address)[0];
    for (u32 i = 0; i < run_size; ++i) bytes[i] = words[i / 4] >> (8 * (i % 4)) & 0xffu;
  }
  if (auto part = t.otherwise()) {
    const auto memory = pointer_at<in<u8>>(t, run.address);
    for (u32 i = 0; i < run_size; ++i)
      if (auto exists = t.when(run.count > i)) bytes[i] = cast<u32>(memory[i]);
  }
  if (auto four = t.when(kept == static_cast<u32>(kept_type::e4m3)))
    for (u32 i = 0; i < run_size; ++i) x[i] = cast<f32>(bit_cast<e4m3>(cast<u8>(bytes[i])));
  if (auto five = t.when(kept == static_cast<u32>(kept_type::e5m2)))
    for (u32 i = 0; i < run_size; ++i) x[i] = cast<f32>(bit_cast<e5m2>(cast<u8>(bytes[i])));
  if (auto integer = t.when(kept == static_cast<u32>(kept_type::i8)))
    for (u32 i = 0; i < run_size; ++i) x[i] = cast<f32>(bit_cast<i8>(cast<u8>(bytes[i])));
}

// Copies a row as it is, or 8-bit elements times their scale.
template <class Rows>
constexpr void gather_row(thread t, const val<gather_problem>& problem, const Rows& rows, const key_place& of,
                          const val<u32>& batch, const val<u32>& token, const val<u32>& head,
                          const row_place& place) {
  const auto pages = rows[&gathered_rows::from];
  const val shift = t.let(problem[&gather_problem::shift]);
  const val kept = t.let(rows[&gathered_rows::kept]);
  const val same = t.let(kept == static_cast<u32>(kept_type::same));
  const val size = t.let(rows[&gathered_rows::size]);
  const val aligned = t.let(rows[&gathered_rows::aligned] != 0u);
  const val from_shift = t.let(select(same, shift, 0u));
  const val from =
      t.let(pages[&page_strides::address] + (cast<u64>(cast<i64>(of.page) * pages[&page_strides::page] +
                                                       cast<i64>(of.row) * pages[&page_strides::row] +
                                                       cast<i64>(head) * pages[&page_strides::head])
                                             << from_shift));
  const val to = row_address(t, rows[&gathered_rows::to], batch, token, head, shift);
  if (auto copied = t.when(same)) {
    const val bytes = t.let(size << shift);
    copy_row(t, from, to, bytes, shift, aligned, place.lane, place.lanes);
  }
  if (auto little = t.otherwise()) {
    var scale(t, 1.0f);
    const val scales = t.let(rows[&gathered_rows::scale]);
    if (auto scaled = t.when(scales != 0u)) {
      const val at = t.let(cast<i64>(of.page) * rows[&gathered_rows::scale_page] +
                           cast<i64>(of.row) * rows[&gathered_rows::scale_row] +
                           cast<i64>(head) * rows[&gathered_rows::scale_head]);
      scale = pointer_at<in<f32>>(t, scales)[at];
    }
    const val type = t.let(problem[&gather_problem::type]);
    const val runs = t.let((size + (run_size - 1)) / run_size);
    for (auto r : t.range(place.lane, runs, place.lanes).no_unroll()) {
      const val first = t.let(r * run_size);
      auto x = array_of<run_size>([&](u32) { return var(t, 0.0f); });
      load_kept(t, kept, run_of(t, from, from_shift, first, size, aligned), x);
      for (u32 i = 0; i < run_size; ++i) x[i] *= scale;
      store_run(t, type, run_of(t, to, shift, first, size, aligned), x, 0);
    }
  }
}

}  // namespace detail

// Copies row i of each sequence out of the cache. Rows in the left padding, from the sequence's length on, or
// without a page are not written.
inline constexpr auto gather_kv_rows =
    kaio::kernel<"gather_kv", row_threads>([](thread t, val<gather_problem> problem) {
      const row_place place = place_of_thread(t, t.let(problem[&gather_problem::lanes_log]));
      if (auto inside = t.when(place.row < problem[&gather_problem::rows])) {
        const val heads = t.let(problem[&gather_problem::heads]);
        const val tokens = t.let(problem[&gather_problem::tokens]);
        const val of_all = t.let(place.row / (heads * 2u));
        const val index = t.let(place.row - of_all * (heads * 2u));
        const val is_key = t.let(index < heads);
        const val head = t.let(select(is_key, index, index - heads));
        const val batch = t.let(of_all / tokens);
        const val token = t.let(of_all - batch * tokens);
        const auto places = problem[&gather_problem::places];
        var sequence(t, batch), key(t, token);
        var found(t, true);
        const val cu = t.let(problem[&gather_problem::cu]);
        if (auto packed = t.when(cu != 0u)) {
          const token_place of = find_sequence(t, cu, t.let(problem[&gather_problem::sequences]), token);
          found = of.found;
          sequence = of.sequence;
          key = token - of.first;
        }
        if (auto belongs = t.when(found)) {
          const val own = t.let(sequence), own_key = t.let(key);
          const key_place of = place_of_key(t, places, own, own_key);
          const val length = length_of_sequence(t, places, own);
          var padding(t, 0u);
          const val paddings = t.let(places[&cache_places::left_padding]);
          if (auto padded = t.when(paddings != 0u)) padding = detail::number_at(t, paddings, own);
          const val kept = t.let(all_of(cast<i32>(own_key) < cast<i32>(length), own_key >= padding));
          if (auto exists = t.when(all_of(of.exists, kept))) {
            const auto move = [&](const auto& rows) {
              detail::gather_row(t, problem, rows, of, batch, token, head, place);
            };
            if (auto keys = t.when(is_key)) move(problem[&gather_problem::k]);
            if (auto values = t.otherwise()) move(problem[&gather_problem::v]);
          }
        }
      }
    });

}  // namespace kaio::ops
