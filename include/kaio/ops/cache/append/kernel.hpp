#pragma once
// append_kv: writes new rows of K and V into a cache, and rotated Q into a tensor of its own. K may be
// rotated by position, and both K and V quantised to 8 bits. A token has 2 Hkv + Hq rows; a group of lanes
// has one of them:
//
//   row of a token    0 .. Hkv - 1     Hkv .. 2 Hkv - 1     2 Hkv .. 2 Hkv + Hq - 1
//   is                K of a head      V of a head          Q of a head
//
// A lane has a unit of 16 elements (common/rotate.hpp). It stays in registers from the load to the store, so
// the largest element of a row is known before the row is written. Elements that are neither rotated nor
// quantised are copied.

#include <kaio/dsl/async.hpp>
#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/cache/append/place.hpp>
#include <kaio/ops/cache/append/problem.hpp>
#include <kaio/ops/cache/append/quantise.hpp>
#include <kaio/ops/cache/common/rotate.hpp>
#include <kaio/ops/cache/common/rows.hpp>

#include <cstdint>

namespace kaio::ops {

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

// Rounds the elements of x to their type in memory.
template <class Vars>
constexpr void round_to_type(thread t, const val<u32>& type, Vars& x) {
  with_any_element(t, type, [&]<class A>(A) {
    if constexpr (!std::is_same_v<A, stored_f32>)
      for (u32 i = 0; i < 2 * run_size; ++i) x[i] = A::read(A::write(t, t.let(x[i])));
  });
}

}  // namespace detail

// From sm_89 on conversions to 8-bit floats are instructions; before, each takes about 13 instructions. From
// sm_90 on the launch is programmatic. The next kernel then begins before this one has ended, but after
// everything before this one has ended. So attention_decode has to wait only for the new rows. The bits are
// the same.
template <std::uint32_t Sm>
inline constexpr auto append_kv_rows =
    kaio::kernel<"append_kv_sm" + decimal<Sm>, row_threads, kernel_options{.target = {Sm}}>(
        [](thread t, val<append_problem> problem) {
          const auto begin = [&] {
            grid_dependency_wait(t);
            launch_dependents(t);
          };
          if constexpr (Sm >= 90)
            if (auto written = t.when(problem[&append_problem::constant] == 0u)) begin();
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

          const val type = t.let(problem[&append_problem::type]);
          const val shift = t.let(select(type == static_cast<u32>(element_type::f32), 2u, 1u));
          const auto of_k = problem[&append_problem::of_k], of_v = problem[&append_problem::of_v];
          const auto tables = problem[&append_problem::tables];
          const auto of_row = [&](auto member) {
            return t.let(select(any_of(is_key, is_query), of_k[member], of_v[member]));
          };
          const val size = of_row(&cache_rows::size);
          const val pairs = t.let(select(any_of(is_key, is_query), tables[&rotary_tables::pairs], 0u));
          const val kept =
              t.let(select(is_query, static_cast<u32>(kept_type::same), of_row(&cache_rows::kept)));
          const val is_same = t.let(kept == static_cast<u32>(kept_type::same));
          const val aligned = t.let(
              select(is_query, problem[&append_problem::q_aligned], of_row(&cache_rows::aligned)) != 0u);
          const val interleaved = t.let(tables[&rotary_tables::interleaved] != 0u);

          // Source and destination of the row.
          var writes(t, false);
          var from(t, u64{0}), to(t, u64{0}), scale_at(t, u64{0});
          var position(t, 0u);
          if (auto exists = t.when(inside)) {
            const append_place of = place_of_token(t, problem, batch, token, is_query);
            position = of.position;
            if (auto query = t.when(is_query)) {
              writes = of.exists;
              from = row_address(t, problem[&append_problem::q], batch, token, head, shift);
              to = row_address(t, problem[&append_problem::q_out], batch, token, head, shift);
            }
            if (auto cached = t.otherwise()) {
              writes = of.has_place;
              const auto find = [&](auto source, const auto& rows) {
                from = row_address(t, problem[source], batch, token, head, shift);
                const val by_sequence =
                    t.let(rows[&cache_rows::scales_are] == static_cast<u32>(scale_source::of_sequence));
                const val scale_page = t.let(select(by_sequence, of.sequence, of.page));
                const detail::kept_row row = detail::find_kept_row(t, rows, of, scale_page, head, shift);
                to = row.address;
                scale_at = row.scale;
              };
              if (auto key = t.when(is_key)) find(&append_problem::k, of_k);
              if (auto value = t.otherwise()) find(&append_problem::v, of_v);
            }
          }

          if constexpr (Sm >= 90) begin();

          // The lane's unit, in registers.
          const val rotated_units = t.let((pairs + (run_size - 1)) / run_size);
          const val units = t.let(
              rotated_units + select(is_same, 0u, (size - pairs * 2u + (2 * run_size - 1)) / (2 * run_size)));
          const row_unit unit = unit_of(t, place.lane, pairs, size, interleaved);
          const val has_unit = t.let(all_of(writes, place.lane < units));
          auto x = array_of<2 * run_size>([&](u32) { return var(t, 0.0f); });
          const val row_from = t.let(from), row_to = t.let(to);
          if (auto loads = t.when(has_unit)) {
            for (u32 r = 0; r < 2; ++r)
              load_run(t, type, run_of(t, row_from, shift, unit.first[r], unit.limit[r], aligned), x,
                       r * run_size);
            if (auto turns = t.when(unit.rotated)) {
              rotate_unit(t, tables, t.let(position), unit, x);
              detail::round_to_type(t, type, x);
            }
          }

          var scale(t, 1.0f);
          const val source =
              t.let(select(is_query, static_cast<u32>(scale_source::none), of_row(&cache_rows::scales_are)));
          const val computed = t.let(source == static_cast<u32>(scale_source::computed));
          const val scale_address = t.let(scale_at);
          if (auto any = t.when(problem[&append_problem::computes_scales] != 0u)) {
            const val of_row_itself = scale_of_row(t, kept, x, place.lanes);
            scale = select(computed, of_row_itself, scale);
          }
          if (auto written = t.when(writes)) {
            if (auto own = t.when(all_of(computed, place.lane == 0u)))
              pointer_at<out<f32>>(t, scale_address)[0] = scale;
            const val is_given = t.let(any_of(source == static_cast<u32>(scale_source::given),
                                              source == static_cast<u32>(scale_source::of_sequence)));
            if (auto given = t.when(is_given)) scale = pointer_at<in<f32>>(t, scale_address)[0];
            if (auto stores = t.when(has_unit)) {
              const val same_shift = t.let(select(is_same, shift, 0u));
              const element_run run0 = run_of(t, row_to, same_shift, unit.first[0], unit.limit[0], aligned);
              const element_run run1 = run_of(t, row_to, same_shift, unit.first[1], unit.limit[1], aligned);
              if (auto same = t.when(is_same)) {
                store_run(t, type, run0, x, 0);
                store_run(t, type, run1, x, run_size);
              }
              if (auto little = t.otherwise()) store_quantised(t, kept, run0, run1, x, t.let(scale));
            }
            const val copies =
                t.let(all_of(is_same, any_of(!is_query, problem[&append_problem::q_in_place] == 0u)));
            if (auto rest = t.when(copies)) {
              const val first = t.let(cast<u64>(pairs * 2u) << shift);
              const val rest_from = t.let(row_from + first), rest_to = t.let(row_to + first);
              const val bytes = t.let((size - pairs * 2u) << shift);
              copy_row(t, rest_from, rest_to, bytes, shift, aligned, place.lane, place.lanes);
            }
          }
        });

}  // namespace kaio::ops
