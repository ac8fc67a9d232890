#pragma once
// Copies of pages, and of the rows of sequences out of pages. A group of lanes has a row of a head.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/cache/common/places.hpp>
#include <kaio/ops/cache/common/problem.hpp>
#include <kaio/ops/cache/common/rows.hpp>
#include <kaio/ops/cache/common/run.hpp>
#include <kaio/ops/cache/copy/problem.hpp>

#include <cstdint>

namespace kaio::ops {

// Row `row` of head `head` of page `to` of each layer becomes that of page `from`, for each pair (from, to);
// blocks along y share the layers.
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

// Row i of each sequence out of the cache; rows from the sequence's length on are not written.
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
            const val shift = t.let(problem[&gather_problem::shift]);
            const auto move = [&](auto source, auto target, auto bytes, auto aligned) {
              const auto rows = problem[source];
              const val from = t.let(rows[&page_strides::address] +
                                     (cast<u64>(cast<i64>(of.page) * rows[&page_strides::page] +
                                                cast<i64>(of.row) * rows[&page_strides::row] +
                                                cast<i64>(head) * rows[&page_strides::head])
                                      << shift));
              const val to = row_address(t, problem[target], batch, token, head, shift);
              const val count = t.let(problem[bytes]);
              const val by_16 = t.let(problem[aligned] != 0u);
              copy_row(t, from, to, count, shift, by_16, place.lane, place.lanes);
            };
            if (auto keys = t.when(is_key))
              move(&gather_problem::k, &gather_problem::to_k, &gather_problem::k_bytes,
                   &gather_problem::k_aligned);
            if (auto values = t.otherwise())
              move(&gather_problem::v, &gather_problem::to_v, &gather_problem::v_bytes,
                   &gather_problem::v_aligned);
          }
        }
      }
    });

}  // namespace kaio::ops
