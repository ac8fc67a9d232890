#pragma once
// qkv_project in one launch, for one row of x and weights of four bits: the kernel of matmul_w4 for one row, whose units
// are 128 columns: a head of 128, or two of 64. A warp that has no tiles finds where the heads go while the others
// multiply, and finishes them.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/qkv/targets.hpp>
#include <kaio/ops/qkv/tile.hpp>
#include <kaio/ops/quantised/w4/one_row/kernel.hpp>

#include <cstdint>

namespace kaio::ops {

inline constexpr u32 qkv_one_row_columns = 128, qkv_one_row_tiles = qkv_one_row_columns / w4_tile_n;

// The row of a unit, for a warp; its lanes 8 and on have rows that do not exist.
template <w4_one_row_config C>
struct qkv_one_row_rows {
  static constexpr u32 columns = qkv_one_row_columns, count = 32 / (columns / (2 * run_size)), threads = 32;

  thread t;
  const val<w4_problem>& product;
  val<u32> column, rank;
  const w4_one_row_sums<C>* sums;  // none: before they are there
  val<u32> first;                  // tile of the batch

  constexpr val<u32> row(const val<u32>& r) const { return t.let(select(r == 0u, 0u, ~0u)); }
  constexpr dsl::register_array<val<f32>, 4> four(const val<u32>&, const val<u32>& c) const {
    auto y = sums->four(t.let(first + c / w4_tile_n), t.let(c % w4_tile_n));
    const val unit = t.let(product[&w4_problem::unit]);
    const val factors = t.let(product[&w4_problem::w][&w4_packed::factors]);
    for (auto& one : y) one *= unit;
    if (auto has = t.when(factors != u64{0})) {
      const val by = load_vec<4>(pointer_at<in<f32>>(t, factors)[column + c]);
      for (u32 e = 0; e < 4; ++e) y[e] *= by[e];
    }
    return array_of<4>([&](u32 e) { return t.let(y[e]); });
  }
};

template <w4_one_row_config C, scalar T>
struct qkv_w4_one_row_end {
  static constexpr u32 tiles_of_unit = qkv_one_row_tiles;
  static constexpr bool has_warp = true;
  static constexpr u32 units = C.columns / tiles_of_unit;  // of a batch
  using rows_type = qkv_one_row_rows<C>;
  using targets_type = head_targets<units * 32>;
  const val<w4_problem>& product;
  const val<qkv_problem>& problem;
  const targets_type& targets;

  static constexpr val<u32> tile(thread t, const val<u32>& first_unit, const val<u32>& i) {
    return t.let(first_unit * tiles_of_unit + i);
  }
  // By a warp: where the heads of the first batch go.
  constexpr void begin(thread t, const w4_one_row_part& of, const val<u32>& part,
                       const val<u32>& parts) const {
    find_targets(t, of.first, val<u32>(0u), t.let(of.last - of.first), part, parts);
  }
  constexpr void store(thread t, const w4_one_row_sums<C>& sums, const val<u32>& first_unit,
                       const val<u32>& first, const val<u32>& count, const val<u32>& part) const {
    if (auto own = t.when(t.warp_rank() == C.warps)) {
      const val before = t.let(first / tiles_of_unit), of_batch = t.let(count / tiles_of_unit);
      if (auto later = t.when(before != 0u)) find_targets(t, first_unit, before, of_batch, part, sums.parts);
      for_units(t, &sums, first_unit, before, of_batch, part, sums.parts,
                [&](const rows_type& rows, const val<u32>& i, const val<u32>& r, const head_row& row,
                    const val<u32>& column) {
                  finish_head_at<whole_elements<T>, sums_are::f32>(
                      t, problem, row, load_from_tile(t, rows, r, column),
                      [&] { return kept_target(t, targets, i); });
                });
    }
  }

 private:
  // of(rows, i, r, row, column) for the heads of units that the block finishes, of those of a batch; i is the place of
  // the lane's target.
  template <class Of>
  constexpr void for_units(thread t, const w4_one_row_sums<C>* sums, const val<u32>& first_unit,
                           const val<u32>& before, const val<u32>& count, const val<u32>& part,
                           const val<u32>& parts, const Of& of) const {
    for (auto u : t.range(0u, t.let(min(count, units))).no_unroll()) {
      const val unit = t.let(before + u);
      const val column = t.let((first_unit + unit) * qkv_one_row_columns);
      const val lane = t.lane_rank();
      const rows_type rows{t, product, column, lane, sums, t.let(u * tiles_of_unit)};
      if (auto own = t.when(unit % parts == part))
        for_heads_of_tile(t, rows, problem,
                          [&](const auto& i, const val<u32>& r, const head_row& row,
                              const val<u32>& of_tile) { of(rows, t.let(u * 32u + i), r, row, of_tile); });
    }
  }
  constexpr void find_targets(thread t, const val<u32>& first_unit, const val<u32>& before,
                              const val<u32>& count, const val<u32>& part, const val<u32>& parts) const {
    for_units(
        t, nullptr, first_unit, before, count, part, parts,
        [&](const rows_type&, const val<u32>& i, const val<u32>&, const head_row& row, const val<u32>&) {
          const head_target target = find_target(t, problem, row);
          keep_target(t, targets, i, target);
          prefetch_tables(t, problem, row, target);
        });
  }
};

template <scalar T>
struct qkv_w4_one_row_kernel {
  using body = w4_one_row_body<w4_one_row, T>;
  using end = qkv_w4_one_row_end<w4_one_row, T>;
  static constexpr auto name = "qkv_project_w4_one_row_" + type_name<T>;
  static constexpr auto kernel =
      kaio::kernel<name, block_size{body::template threads<end>()}, w4_one_row_options>(
          [](thread t, val<w4_problem> product, val<qkv_problem> problem, val<w4_one_row_work> work) {
            const typename end::targets_type targets(t);
            body::run(t, product, work, end{product, problem, targets});
          });
};

// Launched as w4_one_row_launch has it, of a unit for each 128 columns.
template <scalar T>
inline constexpr auto qkv_project_w4_one_row = qkv_w4_one_row_kernel<T>::kernel;

}  // namespace kaio::ops
