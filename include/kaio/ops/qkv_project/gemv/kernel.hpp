#pragma once
// qkv_project in one launch, for one row of x and weights of four or eight bits. It is the kernel of
// matmul_w4 for one row, with units of 128 columns: a head of 128, or two of 64. One warp has no tiles. While
// the others multiply, it loads all terms of the heads into registers; then it finishes the heads.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/qkv_project/common/head.hpp>
#include <kaio/ops/weight_only/gemv/kernel.hpp>

#include <cstdint>

namespace kaio::ops {

inline constexpr u32 qkv_one_row_columns = 128, qkv_one_row_tiles = qkv_one_row_columns / w4_tile_n;

template <w4_one_row_config C, scalar T>
struct qkv_w4_one_row_end {
  static constexpr u32 tiles_of_unit = qkv_one_row_tiles;
  static constexpr bool has_warp = true;
  static constexpr u32 units = C.columns / tiles_of_unit;  // units per batch
  static constexpr u32 lanes = qkv_one_row_columns / (2 * run_size);
  static_assert(units * lanes <= 32);
  using inbox_of = w4_one_row_inbox<C>;
  const val<w4_problem>& product;
  const val<qkv_problem>& problem;

  static constexpr val<u32> tile(thread t, const val<u32>& first_unit, const val<u32>& i) {
    return t.let(first_unit * tiles_of_unit + i);
  }
  // One warp calls it. It finishes the block's units of each batch, with eight lanes per unit. All terms
  // except the sums are loaded before.
  constexpr void finish(thread t, const typename inbox_of::memory& inbox, const w4_one_row_part& of,
                        const val<u32>& split, const val<u32>& splits) const {
    const auto append = problem[&qkv_problem::append];
    const val lanes_log = t.let(append[&append_problem::lanes_log]);  // log2 of the lanes of a head
    const val heads = t.let(problem[&qkv_problem::heads]);
    const val of_head = t.let(val<u32>(1u) << lanes_log);
    const val lane = t.lane_rank();
    const val of_batch = t.let(lane / lanes), of_unit = t.let(lane % lanes);
    const val head = t.let(of_unit >> lanes_log);
    const val count = t.let(of.last - of.first);
    for (auto first : t.range(0u, count, units).no_unroll()) {
      const val unit = t.let(first + of_batch);
      const val column = t.let((of.first + unit) * qkv_one_row_columns);
      const val index = t.let((column >> (lanes_log + 4u)) + head);
      const val exists = t.let(all_of(of_batch < units, unit < count, unit % splits == split, index < heads));
      const val zero = t.let(0u);  // batch and token
      const head_row row =
          find_head(t, problem, exists, zero, zero, index, t.let(of_unit & (of_head - 1u)), of_head);
      const head_steps steps = steps_of(t, problem, row);
      const head_terms_in_registers<whole_elements<T>> terms(t, problem, row, steps);
      const val batch_at = t.let(first / units % 2u * inbox_of::of_batch);
      cluster_barrier(t);
      const w4_one_row_sums<C> sums{t, inbox, batch_at, splits};
      finish_row<whole_elements<T>, sums_are::f32>(
          t, problem, steps, row,
          [&](const row_unit& own, auto& x) {
            for (u32 four = 0; four < 4; ++four) {
              const val c = t.let((head << (lanes_log + 4u)) + own.first[four / 2] + four % 2 * 4);
              const auto y = sums_of(t, sums, of_batch, column, c);
              for (u32 e = 0; e < 4; ++e) x[four * 4 + e] = y[e];
            }
          },
          terms);
    }
  }

 private:
  // Sums of columns c to c + 3 of a unit of the batch.
  constexpr auto sums_of(thread t, const w4_one_row_sums<C>& sums, const val<u32>& unit,
                         const val<u32>& column, const val<u32>& c) const {
    const val tile = t.let(unit * tiles_of_unit + c / w4_tile_n);
    auto y = sums.four(tile, t.let(c % w4_tile_n));
    const val scale = t.let(product[&w4_problem::unit]);
    const val factors = t.let(product[&w4_problem::w][&w4_packed::factors]);
    for (auto& one : y) one *= scale;
    if (auto has = t.when(factors != u64{0})) {
      const val by = load_vec<4>(pointer_at<in<f32>>(t, factors)[column + c]);
      for (u32 e = 0; e < 4; ++e) y[e] *= by[e];
    }
    return y;
  }
};

template <w4_one_row_config C, scalar T>
struct qkv_w4_one_row_kernel {
  using body = w4_one_row_body<C, T>;
  using end = qkv_w4_one_row_end<C, T>;
  static constexpr auto name = "qkv_project_" + w4_one_row_name<C, T>;
  static constexpr auto kernel =
      kaio::kernel<name, block_size{body::template threads<end>()}, w4_one_row_options>(
          [](thread t, val<w4_problem> product, val<qkv_problem> problem, val<w4_one_row_work> work) {
            body::run(t, product, work, end{product, problem});
          });
};

// Launched as w4_one_row_launch says, with one unit for each 128 columns.
template <w4_one_row_config C, scalar T>
inline constexpr auto qkv_project_w4_one_row = qkv_w4_one_row_kernel<C, T>::kernel;

}  // namespace kaio::ops
