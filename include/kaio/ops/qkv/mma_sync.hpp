#pragma once
// qkv_project in one launch, with the matrix instructions of a warp: the kernel of matmul, whose epilogue has
// whole heads. A tile is 128 columns, two heads of 64 or one of 128; its sums go to shared memory, and eight
// lanes (four, of 64) have a row of a head. In shared memory each is read once, in whole vectors.
//
//   kernel    tile        for
//   large     128 x 128   many tokens
//   medium    32 x 128    fewer
//
// Heads of 64 and 128, of Q, K and V alike; pairs that are rotated come in eights; outputs and terms begin at
// multiples of 16 bytes (of 8 bits: 8).

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/matmul/mma_sync/cuts.hpp>
#include <kaio/ops/matmul/mma_sync/kernel.hpp>
#include <kaio/ops/qkv/head.hpp>

#include <cstdint>

namespace kaio::ops {

namespace qkv_cuts {
inline constexpr mma_sync_config large = mma_cuts::large_16(major::k, major::k);
inline constexpr mma_sync_config medium{.m = 32,
                                        .n = 128,
                                        .k = 64,
                                        .warp_m = 32,
                                        .warp_n = 32,
                                        .stages = 4,
                                        .min_blocks = 1,
                                        .a = major::k,
                                        .b = major::k};
}  // namespace qkv_cuts

// The steps of the heads, for tiles of whole ones.
template <class T>
struct qkv_rows {
  static constexpr bool takes_rows = true;

  template <class Rows>
  static constexpr void rows(thread t, const Rows& rows, const val<qkv_problem>& problem) {
    constexpr u32 units = Rows::columns / (2 * run_size);  // of a row of the tile
    static_assert(Rows::count * units % 32 == 0, "kaio: warps have whole rows of heads");
    const auto append = problem[&qkv_problem::append];
    const val lanes_log = t.let(append[&append_problem::lanes_log]);
    const val lanes = t.let(val<u32>(1u) << lanes_log);
    const val first = t.let(rows.column >> (lanes_log + 4u));  // of the tile's heads
    const val tokens = t.let(append[&append_problem::tokens]);
    const val heads = t.let(problem[&qkv_problem::heads]);
    const val all_tokens = t.let(problem[&qkv_problem::all_tokens]);
    for (auto i : t.range(rows.rank, Rows::count * units, Rows::threads).no_unroll()) {
      const val r = t.let(i / units), of_row = t.let(i % units);
      const val head = t.let(of_row >> lanes_log), lane = t.let(of_row & (lanes - 1u));
      const val of_all = rows.row(r);
      const val index = t.let(first + head);
      const val exists = t.let(all_of(of_all < all_tokens, index < heads));
      const val batch = t.let(of_all / tokens);
      const val token = t.let(of_all - batch * tokens);
      const head_row row = find_head(t, problem, exists, batch, token, index, lane, lanes);
      const val column = t.let(head << (lanes_log + 4u));
      finish_head<whole_elements<T>, sums_are::f32>(t, problem, row, [&](const row_unit& unit, auto& x) {
        for (u32 part = 0; part < 4; ++part) {
          const val c = t.let(column + unit.first[part / 2] + part % 2 * 4);
          const auto four = rows.four(r, c);
          for (u32 e = 0; e < 4; ++e) x[part * 4 + e] = four[e];
        }
      });
    }
  }
};

template <mma_sync_config C, class T>
struct qkv_kernel {
  using product = instruction_product<mma_m16n8k16<f32, T>>;
  using body = mma_sync_body<C, product, T, qkv_rows<T>, in_memory<T>, in_memory<T>>;
  static constexpr auto name = "qkv_project_mma_" + type_name<T> + "_" + decimal<C.m> + "x" + decimal<C.n>;
  static constexpr kernel_options options{.target = {80}, .large_shared = true, .min_blocks = C.min_blocks};
  static constexpr auto kernel = kaio::kernel<name, block_size{C.threads()}, options>(
      [](thread t, in<T> x, val<qkv_matrices> w, val<mma_sync_problem> problem, val<qkv_problem> heads) {
        const auto weights = [&](const val<u32>&, const val<i64>&) {
          const tile_index tile = tile_at(t, problem[&mma_sync_problem::walk], t.let(block_idx_x()));
          const val column = t.let(tile.n * C.n);
          const val of_k = t.let(column >= heads[&qkv_problem::k][&qkv_part::column]);
          const val of_v = t.let(column >= heads[&qkv_problem::v][&qkv_part::column]);
          const val address = t.let(
              select(of_v, w[&qkv_matrices::v], select(of_k, w[&qkv_matrices::k], w[&qkv_matrices::q])));
          return pointer_at<in<T>>(t, address);
        };
        body::run(
            t, [&](const val<u32>&, const val<i64>&) { return x; }, weights, 0, problem, heads);
      });
};

// Launched with walk.tiles blocks along x.
template <mma_sync_config C, class T>
inline constexpr auto qkv_project_mma = qkv_kernel<C, T>::kernel;

}  // namespace kaio::ops
