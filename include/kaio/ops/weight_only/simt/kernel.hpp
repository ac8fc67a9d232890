#pragma once
// matmul_w4 and matmul_w8 by f32 multiply-adds from sm_70 on, for devices before sm_80. One kernel serves all
// codes, scales and element types, which the launch passes; only users' own codes are excluded.
//
//         32 columns of y            A block has 32 x 32 of y and a split of the tiles of K (layout.hpp). A
//        +---------------+           thread decodes a word of the tile of W, eight weights, to shared memory,
//   32   | 1 x 4 of each |           and copies eight elements of x. It then has the sums of one row and four
//   rows | of 256 threads|           neighbouring columns.
//        +---------------+
//
// Weights are number * scale + offset, in f32. The sums of each tile of K are added to the total.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/weight_only/common/rows.hpp>
#include <kaio/ops/weight_only/common/weights.hpp>
#include <kaio/ops/weight_only/mma_sync/store.hpp>

#include <cstdint>

namespace kaio::ops {

struct w4_simt {
  static constexpr std::uint32_t rows = 32, threads = w4_tile_threads;
  static constexpr std::uint32_t x_pitch = w4_tile_k + 4, w_pitch = w4_tile_n + 4;
  static constexpr std::uint32_t of_thread =
      rows * w4_tile_k / threads;  // elements of x that a thread copies
  static_assert(rows * w4_tile_n == 4 * threads && of_thread == 8);
};

struct w4_simt_body {
  struct place {
    val<u32> split, first, last;  // first to before last: tiles of K
    val<u32> row, tile_n;         // first row of y, and tile of its columns
  };

  // rows: as w4_rows_in_order; store: as w4_store.
  template <class Rows = w4_rows_in_order, class Store = w4_store>
  static constexpr void run(thread t, const val<w4_problem>& problem, const place& place,
                            const Rows& rows = {}, const Store& store = {}) {
    const auto w = problem[&w4_problem::w];
    const val column_of_block = t.let(place.tile_n * w4_tile_n);
    const val k = t.let(w[&w4_packed::k]), m = t.let(problem[&w4_problem::m]);
    const val n = t.let(w[&w4_packed::n]);
    const val tiles_k = t.let(w[&w4_packed::tiles_k]);
    const val act_order = t.let(w[&w4_packed::rows]);
    const val x_address = t.let(problem[&w4_problem::x]);
    const val is_half = t.let(problem[&w4_problem::type] == static_cast<u32>(element_type::f16));
    const w4_weight_reader words(t, w);
    const shared<f32, w4_simt::rows, w4_simt::x_pitch> x_tile(t);
    const shared<f32, w4_tile_k, w4_simt::w_pitch> w_tile(t);

    const val rank = t.thread_rank();
    const val own_row = t.let(rank / 8u), own_columns = t.let(rank % 8u * 4u);
    const val row_of_x = rows.source(t, t.let(place.row + own_row));
    const val x_line = t.let(cast<i64>(row_of_x) * problem[&w4_problem::x_row]);
    const val row_exists = t.let(row_of_x < rows.end(t, m));
    auto totals = array_of<4>([&](u32) { return var<f32>(t, 0.0f); });

    for (auto tile : t.range(place.first, place.last)) {
      const w4_word word = find_word(t, t.let(place.tile_n * tiles_k + tile), tiles_k);
      const auto weights = words.weights(word);
      const val own_n = t.let(word.n - column_of_block), own_k = t.let(word.k - tile * w4_tile_k);
      for (u32 i = 0; i < 8; ++i) {
        const val exists = t.let(word.k + w4_word::further_k(i) < k);
        const val row = t.let(own_k + w4_word::further_k(i)), column = t.let(own_n + w4_word::further_n(i));
        const val weight = t.let(select(exists, weights[i], 0.0f));
        w_tile[row][column] = weight;
      }
      const val x_column = t.let(rank % 8u * w4_simt::of_thread);
      for (u32 i = 0; i < w4_simt::of_thread; ++i) {
        const val at = t.let(tile * w4_tile_k + x_column + i);
        var x(t, 0.0f);
        if (auto exists = t.when(all_of(row_exists, at < k))) {
          var source(t, at);
          if (auto gathers = t.when(act_order != u64{0}))
            source = cast<u32>(pointer_at<in<i32>>(t, act_order)[at]);
          const val offset = t.let(x_line + cast<i64>(source));
          if (auto half = t.when(is_half))
            x = detail::stored_f16::read(pointer_at<in<f16>>(t, x_address)[offset]);
          if (auto brain = t.otherwise())
            x = detail::stored_bf16::read(pointer_at<in<u16>>(t, x_address)[offset]);
        }
        const val column = t.let(x_column + i);
        const val number = t.let(x);
        x_tile[own_row][column] = number;
      }
      t.barrier();
      auto sums = array_of<4>([&](u32) { return var<f32>(t, 0.0f); });
      for (auto step : t.range(0u, w4_tile_k, 4u).unroll<2>()) {
        const val x = load_vec<4>(x_tile[own_row][step]);
        for (u32 i = 0; i < 4; ++i) {
          const val four = load_vec<4>(w_tile[step + i][own_columns]);
          for (u32 e = 0; e < 4; ++e) sums[e] = fma(x[i], four[e], sums[e]);
        }
      }
      for (u32 e = 0; e < 4; ++e) totals[e] += sums[e];
      t.barrier();
    }

    const val row = t.let(place.row + own_row), column = t.let(column_of_block + own_columns);
    if (auto exists = t.when(all_of(row < m, column < n))) {
      const val alone = t.let(problem[&w4_problem::splits] == 1u);
      if (auto whole = t.when(alone)) {
        if (auto half = t.when(is_half))
          finish_w4<detail::stored_f16>(t, problem, row, column, totals, store);
        if (auto brain = t.otherwise())
          finish_w4<detail::stored_bf16>(t, problem, row, column, totals, store);
      }
      if (auto some = t.otherwise()) store_w4_part(t, problem, place.split, row, column, totals);
    }
  }
};

// Launched with m_tiles * n_tiles * splits blocks along x, as the kernels with matrix instructions are.
inline constexpr auto matmul_w4_simt =
    kaio::kernel<"matmul_w4_simt", block_size{w4_simt::threads}, kernel_options{.min_blocks = 4}>(
        [](thread t, val<w4_problem> problem) {
          const quotient rows = divide(t, t.let(block_idx_x()), problem[&w4_problem::m_tiles]);
          const quotient columns = divide(t, rows.whole, problem[&w4_problem::n_tiles]);
          const val split = columns.whole;
          const val steps = t.let(problem[&w4_problem::steps]), rest = t.let(problem[&w4_problem::rest]);
          const val first = t.let(split * steps + min(split, rest));
          const val last = t.let(first + steps + select(split < rest, 1u, 0u));
          w4_simt_body::run(t, problem, {split, first, last, t.let(rows.rest * w4_simt::rows), columns.rest});
        });

}  // namespace kaio::ops
