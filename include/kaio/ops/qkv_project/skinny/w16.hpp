#pragma once
// qkv_project in one launch, for few rows of x and weights of f16 or bf16. Clusters and end are those of
// w4.hpp. The product of a block is as in matmul_w4: a warp has 32 columns, and the warps divide K. Each warp
// copies its own tile of 32 x 64 weights. In shared memory its rows are in the order that the end expects:
// the even columns of 16, then the odd ones.
//
// Speed follows the bytes in flight. Two blocks of two stages fit on a multiprocessor, so the 192 blocks of
// 6144 columns keep 6 MB in flight. 4.2 TB/s for 1 us are 4.2 MB.

#include <kaio/dsl/async.hpp>
#include <kaio/dsl/mma.hpp>
#include <kaio/ops/qkv_project/skinny/w4.hpp>

#include <cstdint>

namespace kaio::ops {

constexpr w4_config qkv_w16_rows(std::uint32_t rows) {
  return {.rows = rows, .warps_n = rows <= 8 ? 1u : 2u, .stages = 2, .min_blocks = 2, .bits = 16};
}

// Rows of x and W begin at multiples of 16 bytes.
template <w4_config C, scalar T>
struct qkv_w16_body {
  using mma = mma_m16n8k16<f32, T>;
  static constexpr std::uint32_t fragments = C.fragments(), halves = 2;
  static constexpr std::uint32_t piece = 16 / sizeof(T), pieces = w4_tile_k / piece;
  static constexpr std::uint32_t own_rows = w4_tile_n * pieces / 32;  // rows of W that a lane copies from
  using x_ring = shared_tiles<T, C.rows, w4_tile_k, dsl::swizzled<128>, C.stages * C.warps_k()>;
  using w_ring = shared_tiles<T, w4_tile_n, w4_tile_k, dsl::swizzled<128>, C.stages * C.warps>;
  using sums_type = shared<u32, C.warps_k() * C.rows * C.pitch()>;

  template <class End>
  static constexpr void run(thread t, const val<w4_problem>& problem, const val<qkv_problem>& heads,
                            const val<qkv_w16_weights>& weights, const End& end) {
    const x_ring x_tiles(t);
    const w_ring w_tiles(t);
    const sums_type shared_sums(t);
    const w4_place_of_block place = end.place(t);
    const val lane = t.lane_rank();
    const val warp = t.let(t.warp_rank());
    const val warp_n = t.let(warp % C.warps_n), warp_k = t.let(warp / C.warps_n);
    const val steps = t.let(problem[&w4_problem::steps]), rest = t.let(problem[&w4_problem::rest]);
    const val first = t.let(place.split * steps + min(place.split, rest));
    const val last = t.let(first + steps + select(place.split < rest, 1u, 0u));
    const val row = t.let(0u);
    const val tile_n = end.tile_of_warp(t, problem, place.column, warp_n);
    const w4_block block{place.split, row, place.column, first, last, warp_n, warp_k, tile_n};

    const val k = t.let(problem[&w4_problem::w][&w4_packed::k]);
    const val column = t.let(lane % pieces * piece);
    const auto w_rows =
        array_of<own_rows>([&](u32 p) { return find_row(t, problem, heads, weights, block, p); });
    const auto w_places = array_of<own_rows>([&](u32 p) {
      const val r = t.let(lane / pieces + p * (32 / pieces));
      const val half = t.let(r / 16u), of_half = t.let(r % 16u);
      return w_tiles.lane(t.let(half * 16u + of_half % 2u * 8u + of_half / 2u), column);
    });
    const val rank = t.let(warp_n * 32u + lane);
    const val m = t.let(problem[&w4_problem::m]);
    const auto row_of_x = [&](u32 p) { return t.let(rank / pieces + p * (C.warps_n * 32 / pieces)); };
    const auto x_exists = array_of<C.pieces()>([&](u32 p) { return t.let(row_of_x(p) < m); });
    const auto x_rows = array_of<C.pieces()>([&](u32 p) {
      const val r = row_of_x(p);
      const val line = t.let(cast<i64>(r) * problem[&w4_problem::x_row]);
      return t.let(problem[&w4_problem::x] + cast<u64>(line) * u64{sizeof(T)});
    });
    const auto x_places = array_of<C.pieces()>([&](u32 p) { return x_tiles.lane(row_of_x(p), column); });

    // Elements beyond K become zero. Rows that x does not have are not read: all blocks would read the last
    // one at once. The matrix instruction gets the last row in their place, and their products are dropped.
    const auto bytes_at = [&](const val<u32>& tile) {
      const val at = t.let(tile * w4_tile_k + column);
      return t.let(select(at < k, min(k - at, piece) * sizeof(T), 0u));
    };
    const auto copy_w = [&](const val<u32>& tile, const val<u32>& stage) {
      const val at = t.let(tile * w4_tile_k + column), bytes = bytes_at(tile);
      const auto to = w_tiles[t.let(stage * C.warps + warp)];
      for (u32 p = 0; p < own_rows; ++p)
        cp_async<16>(to.at(w_places[p]), pointer_at<in<T>>(t, w_rows[p])[at], bytes,
                     prefetch_size::bytes_128);
    };
    const auto copy_x = [&](const val<u32>& tile, const val<u32>& stage) {
      const val at = t.let(tile * w4_tile_k + column), bytes = bytes_at(tile);
      const auto to = x_tiles[t.let(stage * C.warps_k() + warp_k)];
      for (u32 p = 0; p < C.pieces(); ++p)
        if (auto exists = t.when(x_exists[p]))
          cp_async<16>(to.at(x_places[p]), pointer_at<in<T>>(t, x_rows[p])[at], bytes);
    };

    static_assert(C.stages == 2);
    var tile(t, first + warp_k);
    var stage(t, 0u);
    if (auto waits = t.when(!end.weights_are_constant(t))) grid_dependency_wait(t);
    if (auto exists = t.when(tile < last)) copy_w(t.let(tile), t.let(0u));
    grid_dependency_wait(t);
    if (auto exists = t.when(tile < last)) copy_x(t.let(tile), t.let(0u));
    cp_async_commit_group(t);
    end.begin(t);

    auto totals = array_of<halves * fragments>([&](u32) { return typename mma::accumulator(t, 0.0f); });
    const auto w_lane = ldmatrix_lane<typename mma::a_fragment>(w_tiles, 0, 0);
    const auto x_lane = lane_of_x(t, x_tiles, t.let(m - 1u));
    for ([[maybe_unused]] auto i : t.range(first, last, C.warps_k()).no_unroll()) {
      cp_async_wait_group<0>(t);
      if constexpr (C.warps_n == 1)
        sync_warp(t);
      else
        t.barrier();
      const val own = t.let(tile), own_stage = t.let(stage);
      const val next = t.let(own + C.warps_k()), next_stage = t.let(1u - own_stage);
      if (auto exists = t.when(next < last)) {
        copy_w(next, next_stage);
        copy_x(next, next_stage);
      }
      cp_async_commit_group(t);
      tile = next;
      stage = next_stage;
      if (auto has_tile = t.when(own < last)) {
        const auto w_tile = w_tiles[t.let(own_stage * C.warps + warp)];
        const auto x_tile = x_tiles[t.let(own_stage * C.warps_k() + warp_k)];
        for (u32 j = 0; j < 4; ++j) {
          auto x = array_of<fragments>([&](u32) { return typename mma::b_fragment(t); });
          if constexpr (fragments == 1)
            ldmatrix(x[0], x_tile.at(x_lane, 0, 16 * j));
          else
            for (u32 f = 0; f < fragments; f += 2) ldmatrix(x[f], x[f + 1], x_tile.at(x_lane, 8 * f, 16 * j));
          for (u32 h = 0; h < halves; ++h) {
            typename mma::a_fragment w(t);
            ldmatrix(w, w_tile.at(w_lane, 16 * h, 16 * j));
            for (u32 f = 0; f < fragments; ++f) mma::multiply_add(totals[h * fragments + f], w, x[f]);
          }
        }
      }
    }
    cp_async_wait_group<0>(t);
    end.store(t, problem, block, totals, shared_sums);
  }

 private:
  // The address of the row of W from which a lane copies piece p; beyond the last row, that of the last.
  static constexpr val<u64> find_row(thread t, const val<w4_problem>& problem, const val<qkv_problem>& heads,
                                     const val<qkv_w16_weights>& weights, const w4_block& block,
                                     std::uint32_t p) {
    const auto at = weights[&qkv_w16_weights::at];
    const val wanted = t.let(block.tile_n * w4_tile_n + t.lane_rank() / pieces + p * (32 / pieces));
    const val n = t.let(min(wanted, problem[&w4_problem::w][&w4_packed::n] - 1u));
    const val of_k = t.let(n >= heads[&qkv_problem::k][&qkv_part::column]);
    const val of_v = t.let(n >= heads[&qkv_problem::v][&qkv_part::column]);
    const val base =
        t.let(select(of_v, at[&qkv_matrices::v], select(of_k, at[&qkv_matrices::k], at[&qkv_matrices::q])));
    const val line = t.let(cast<i64>(n) * weights[&qkv_w16_weights::row]);
    return t.let(base + cast<u64>(line) * u64{sizeof(T)});
  }
  // ldmatrix_lane, with row `last` in place of the rows after it.
  static constexpr auto lane_of_x(thread t, const x_ring& x_tiles, const val<u32>& last) {
    const val lane = t.lane_rank();
    const val of_eight = t.let(lane % 8u);
    const val row = fragments == 1 ? of_eight : t.let(lane / 16u * 8u + of_eight);
    const val own_row = t.let(min(row, last)), column = t.let(lane / 8u % 2u * 8u);
    return x_tiles.lane(own_row, column, 16);
  }
};

template <std::uint32_t Rows, scalar T>
struct qkv_w16_kernel {
  static constexpr w4_config config = qkv_w16_rows(Rows);
  static constexpr auto name = "qkv_project_w16_" + type_name<T> + "_" + decimal<Rows>;
  static constexpr kernel_options options{
      .target = {90}, .large_shared = true, .cluster = block_size{0, 0, 0}, .min_blocks = config.min_blocks};
  static constexpr auto kernel = kaio::kernel<name, block_size{config.threads()}, options>(
      [](thread t, val<w4_problem> product, val<qkv_problem> problem, val<qkv_w16_weights> weights,
         val<u32> weights_are_constant) {
        run_qkv_cluster<config, T>(t, product, problem, weights_are_constant, [&](const auto& end) {
          qkv_w16_body<config, T>::run(t, product, problem, weights, end);
        });
      });
};

// Launched as qkv_project_w4 is.
template <std::uint32_t Rows, scalar T>
inline constexpr auto qkv_project_w16 = qkv_w16_kernel<Rows, T>::kernel;

}  // namespace kaio::ops
