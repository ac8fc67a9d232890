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
#include <kaio/ops/cache/append/problem.hpp>
#include <kaio/ops/cache/append/row.hpp>
#include <kaio/ops/cache/append/unit.hpp>

#include <cstdint>

namespace kaio::ops {

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
          const append_row row = append_row::find(t, problem);
          const append_format format = append_format::of(t, problem, row);
          append_ends ends(t);
          if (auto exists = t.when(row.inside)) ends.find(t, problem, row, format.shift);

          if constexpr (Sm >= 90) begin();

          append_unit unit = append_unit::of(t, row, format, ends);
          unit.load(t, format, problem[&append_problem::tables], ends.position);
          append_scale scale(t, problem, row, ends);
          if (auto any = t.when(problem[&append_problem::computes_scales] != 0u))
            scale.compute(t, row, format, unit);
          if (auto written = t.when(ends.writes)) {
            scale.settle(t, row);
            unit.store(t, format, scale.value);
            const val copies = t.let(
                all_of(format.is_same, any_of(!row.is_query, problem[&append_problem::q_in_place] == 0u)));
            if (auto rest = t.when(copies)) unit.copy_rest(t, row, format);
          }
        });

}  // namespace kaio::ops
