#pragma once
// The epilogue of matmul_w4. A block's sums pass through shared memory to y, or with split-K to the
// workspace. Then matmul_w4_combine adds the splits, in the order of K.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/shared/any_element.hpp>
#include <kaio/ops/shared/store_four.hpp>
#include <kaio/ops/weight_only/mma_sync/block.hpp>

#include <cstdint>

namespace kaio::ops {

// Stores columns `column` to column + 3 of row `row` of y; `left` of them exist. y is Access's type or f32.
struct w4_store {
  template <class Access, class Four>
  static constexpr void store(thread t, const val<w4_problem>& problem, const val<u32>& row,
                              const val<u32>& column, const val<u32>& left, const Four& y) {
    const val at = t.let(cast<i64>(row) * problem[&w4_problem::out_row] + cast<i64>(column));
    const val whole = t.let(all_of(problem[&w4_problem::out_by_four] != 0u, left >= 4u));
    const val address = t.let(problem[&w4_problem::out]);
    const val is_f32 = t.let(problem[&w4_problem::out_type] == static_cast<u32>(element_type::f32));
    if (auto single = t.when(is_f32)) store_four<detail::stored_f32>(t, address, at, left, whole, y);
    if (auto same = t.otherwise()) store_four<Access>(t, address, at, left, whole, y);
  }
};

// Multiplies sums by column factors and adds the bias. `store` then stores them, as w4_store does.
template <class Access, class Four, class Store = w4_store>
constexpr void finish_w4(thread t, const val<w4_problem>& problem, const val<u32>& row,
                         const val<u32>& column, const Four& x, const Store& store = {}) {
  const val n = t.let(problem[&w4_problem::w][&w4_packed::n]);
  const val bias = t.let(problem[&w4_problem::bias]);
  const val left = t.let(n - column);
  const val unit = t.let(problem[&w4_problem::unit]);
  const val factors = t.let(problem[&w4_problem::w][&w4_packed::factors]);
  auto y = array_of<4>([&](u32 e) { return var<f32>(t, x[e] * unit); });
  if (auto has = t.when(factors != u64{0})) {
    const val four = load_vec<4>(pointer_at<in<f32>>(t, factors)[column]);
    for (u32 e = 0; e < 4; ++e) y[e] *= four[e];
  }
  if (auto has = t.when(bias != u64{0})) {
    const auto from = pointer_at<in<typename Access::stored>>(t, bias);
    for (u32 e = 0; e < 4; ++e)
      if (auto exists = t.when(e < left)) y[e] += Access::read(from[column + e]);
  }
  store.template store<Access>(t, problem, row, column, left, y);
}

// The element type of x, which a kernel is made for.
template <scalar T>
struct w4_element : stored_as<T> {
  template <class X>
  static constexpr auto read(const X& x) {
    return cast<f32>(x);
  }
};

// Puts the sums of all warps, from row `from` on, where the codes were in shared memory: f32 of
// [warps_k][rows_at_once][pitch].
template <auto C, class Totals, class Codes>
constexpr void stage_w4_sums(thread t, const w4_block& block, const Totals& totals, const Codes& shared_sums,
                             std::uint32_t from) {
  constexpr std::uint32_t rows = C.rows_at_once(), of_warp = rows * C.pitch();
  const val lane = t.lane_rank();
  const val g = t.let(lane / 4u), c = t.let(lane % 4u);
  const val own = t.let(block.warp_k * of_warp + c * (2 * C.pitch()) + block.warp_n * w4_tile_n + g * 2u);
  t.barrier();
  for (u32 h = 0; h < C.columns() / C.warps_n / 16; ++h)
    for (u32 f = from / 8; f < (from + rows) / 8; ++f)
      for (u32 e = 0; e < 2; ++e) {
        const auto& x = totals[h * C.fragments() + f].registers;
        store_vec(shared_sums.template as<f32>()[own + ((8 * f + e - from) * C.pitch() + 16 * h)],
                  make_vec(x[e], x[e + 2]));
      }
  t.barrier();
}

// Adds four staged sums, from place `at` on, over the warps that divide K.
template <auto C, class Codes>
constexpr auto staged_w4_sums(thread t, const Codes& shared_sums, const val<u32>& at) {
  constexpr std::uint32_t of_warp = C.rows_at_once() * C.pitch();
  auto x = array_of<4>([&](u32) { return var(t, -0.0f); });
  for (u32 warp = 0; warp < C.warps_k(); ++warp) {
    const val more = load_vec<4>(shared_sums.template as<f32>()[at + warp * of_warp]);
    for (u32 e = 0; e < 4; ++e) x[e] += more[e];
  }
  return x;
}

// The workspace address of a split's sums from (row, column) on.
constexpr val<u64> w4_part_address(thread t, const val<w4_problem>& problem, const val<u32>& split,
                                   const val<u32>& row, const val<u32>& column) {
  const val m = t.let(problem[&w4_problem::m]);
  const val pitch = t.let(problem[&w4_problem::w][&w4_packed::tiles_n] * w4_tile_n);
  const val line = t.let(cast<u64>(split) * cast<u64>(m) + cast<u64>(row));
  return t.let(problem[&w4_problem::sums] + (line * cast<u64>(pitch) + cast<u64>(column)) * u64{4});
}

// Stores a split's sums, columns `column` to column + 3 of row `row`, into the workspace.
template <class Four>
constexpr void store_w4_part(thread t, const val<w4_problem>& problem, const val<u32>& split,
                             const val<u32>& row, const val<u32>& column, const Four& x) {
  const auto to = pointer_at<out<f32>>(t, w4_part_address(t, problem, split, row, column));
  const auto y = array_of<4>([&](u32 e) { return t.let(x[e]); });
  store_vec(to[0], make_vec(y[0], y[1], y[2], y[3]));
}

template <auto C, scalar T, class Totals, class Codes, class Store = w4_store>
constexpr void store_w4(thread t, const val<w4_problem>& problem, const w4_block& block, const Totals& totals,
                        const Codes& shared_sums, const Store& store = {}) {
  constexpr std::uint32_t rows = C.rows_at_once(), fours = C.columns() / 4;
  const val m = t.let(problem[&w4_problem::m]);
  const val n = t.let(problem[&w4_problem::w][&w4_packed::n]);
  const val splits = t.let(problem[&w4_problem::splits]);
  for (std::uint32_t from = 0; from < C.rows; from += rows) {
    stage_w4_sums<C>(t, block, totals, shared_sums, from);
    for (auto i : t.block_stride(rows * fours).no_unroll()) {
      const val of_rows = t.let(i / fours), four = t.let(i % fours * 4u);
      const val row = t.let(block.row + from + of_rows), column = t.let(block.column + four);
      if (auto exists = t.when(all_of(row < m, column < n))) {
        const val at = t.let(of_rows * C.pitch() + four);
        const auto x = staged_w4_sums<C>(t, shared_sums, at);
        if (auto alone = t.when(splits == 1u)) finish_w4<w4_element<T>>(t, problem, row, column, x, store);
        if (auto split = t.otherwise()) {
          store_w4_part(t, problem, block.split, row, column, x);
        }
      }
    }
  }
}

// The End of matmul_w4: warps have adjacent tiles of W, and sums go to y or to the workspace.
template <auto C, scalar T>
struct w4_product_end {
  static constexpr val<u32> tile_of_warp(thread t, const val<w4_problem>&, const val<u32>& column,
                                         const val<u32>& warp_n) {
    return t.let(column / w4_tile_n + warp_n);
  }
  template <class Totals, class Codes>
  static constexpr void store(thread t, const val<w4_problem>& problem, const w4_block& block,
                              const Totals& totals, const Codes& shared_sums) {
    store_w4<C, T>(t, problem, block, totals, shared_sums);
  }
};

inline constexpr u32 w4_combine_threads = 128;

// Launched with a block for each 4 * w4_combine_threads columns of a row, row after row. From sm_90 on the
// launch is programmatic: it begins before the kernel of the splits has ended.
template <std::uint32_t Sm>
inline constexpr auto matmul_w4_combine =
    kaio::kernel<"matmul_w4_combine_sm" + decimal<Sm>, block_size{w4_combine_threads},
                 kernel_options{.target = {Sm, false}}>([](thread t, val<w4_problem> problem) {
      const val n = t.let(problem[&w4_problem::w][&w4_packed::n]);
      const val of_row = t.let((n + (4 * w4_combine_threads - 1)) / (4 * w4_combine_threads));
      const val row = t.let(block_idx_x() / of_row);
      const val column = t.let(((block_idx_x() - row * of_row) * w4_combine_threads + t.thread_rank()) * 4u);
      const val m = t.let(problem[&w4_problem::m]);
      const val splits = t.let(problem[&w4_problem::splits]);
      if constexpr (Sm >= 90) {
        launch_dependents(t);
        grid_dependency_wait(t);
      }
      if (auto exists = t.when(column < n)) {
        const val pitch = t.let(cast<u64>(problem[&w4_problem::w][&w4_packed::tiles_n]) * u64{w4_tile_n});
        const val apart = t.let(cast<u64>(m) * pitch);
        const in sums = pointer_at<in<f32>>(t, t.let(problem[&w4_problem::sums]))
                            .from(cast<u64>(row) * pitch + cast<u64>(column));
        auto x = array_of<4>([&](u32) { return var(t, -0.0f); });
        // Four splits are loaded at once, so that their latencies overlap. Adding -0 changes no sum.
        for (auto first : t.range(0u, splits, 4u).no_unroll()) {
          const auto fours = array_of<4>([&](u32 i) {
            return load_vec<4>(sums.from(cast<u64>(min(first + i, splits - 1u)) * apart)[0]);
          });
          for (u32 i = 0; i < 4; ++i)
            for (u32 e = 0; e < 4; ++e) x[e] += select(first + i < splits, fours[i][e], -0.0f);
        }
        const val type = t.let(problem[&w4_problem::type]);
        const val is_half = t.let(type == static_cast<u32>(element_type::f16));
        if (auto half = t.when(is_half)) finish_w4<detail::stored_f16>(t, problem, row, column, x);
        if (auto brain = t.otherwise()) finish_w4<detail::stored_bf16>(t, problem, row, column, x);
      }
    });

}  // namespace kaio::ops
