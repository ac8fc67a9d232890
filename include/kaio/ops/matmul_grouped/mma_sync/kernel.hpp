#pragma once
// A grouped product with the matrix instructions of a warp, from sm_80 on: a block finds its tile
// (common/tiles.hpp), and computes it as matmul does. For matmul, C ends with the group's last row.
//
// gate_up_grouped: half of a tile's columns are of the gate, and half of the other matrix.

#include <kaio/ops/matmul/mma_sync/kernel.hpp>
#include <kaio/ops/matmul_grouped/common/gate.hpp>
#include <kaio/ops/matmul_grouped/common/tiles.hpp>
#include <kaio/ops/matmul_grouped/mma_sync/operand.hpp>

#include <cstdint>
#include <type_traits>

namespace kaio::ops {

template <class Terms>
struct grouped_mma_problem {
  grouped_tiles tiles;
  mma_sync_problem of;  // of all rows; its scheduler and splits are not read
  grouped_gather gather;
  Terms terms;  // grouped_bias, or grouped_gate
  u64 second;   // paired: the other matrix, with the strides of B
};

// The end of gate_up_grouped, for the gate in the first half of a tile's columns.
template <mma_sync_config C>
struct gated_rows {
  static constexpr bool takes_rows = true;
  static constexpr u32 columns = C.n / 2;

  template <class Rows>
  static constexpr void rows(thread t, const Rows& all, const val<output_memory>& c,
                             const val<output_lines>& lines, const val<grouped_gate>& terms,
                             const val<u32>& group) {
    constexpr u32 of_row = columns / 4;
    for (auto i : t.range(all.rank, u32{Rows::count * of_row}, u32{Rows::threads}).no_unroll()) {
      const val r = t.let(i / of_row), column = t.let(i % of_row * 4u);
      const place at{t.let(0u), all.row(r), t.let(all.column + column)};
      const auto to = strip_of<1, 1, 1>(t, lines, at);
      if (auto exists = t.when(all_of(to.exists[0], to.has_columns()))) {
        const auto gate = all.four(r, column), up = all.four(r, t.let(column + columns));
        const val last = t.let(lines[&output_lines::columns] - 1u);
        auto y = array_of<4>([&](u32) { return var(t, 0.0f); });
        auto u = array_of<4>([&](u32) { return var(t, 0.0f); });
        for (u32 e = 0; e < 4; ++e) {
          const val own = t.let(min(at.column + e, last));
          y[e] = gate[e] + grouped_bias::at(t, terms[&grouped_gate::gate], group, own);
          u[e] = up[e] + grouped_bias::at(t, terms[&grouped_gate::up], group, own);
        }
        gate_products(t, y, u, terms);
        store_results<any_output>(t, c, lines, to, array_of<4>([&](u32 e) { return val<f32>(t.let(y[e])); }));
      }
    }
  }
};

template <mma_sync_config C, scalar T, bool Paired>
struct grouped_mma_body {
  using problem_type = grouped_mma_problem<std::conditional_t<Paired, grouped_gate, grouped_bias>>;
  using p = problem_type;
  using body = mma_sync_body<C, instruction_product<mma_m16n8k16<f32, T>>, any_output,
                             std::conditional_t<Paired, gated_rows<C>, add_grouped_bias>, placed<T>,
                             std::conditional_t<Paired, placed<T>, in_memory<T>>>;
  static constexpr u32 columns = Paired ? C.n / 2 : C.n;

  static constexpr void run(thread t, const in<T>& a, const in<T>& b, const val<output_memory>& c,
                            const val<p>& problem) {
    const auto tiles = problem[&p::tiles];
    grouped_walk<C.m, decltype(tiles)> walk(t, tiles);
    const grouped_tile tile = walk.find(t.let(block_idx_x() + 0u));
    if (auto exists = t.when(tile.exists)) {
      const val<mma_sync_problem> all = t.let(problem[&p::of]);
      var<mma_sync_problem> group(t, all);
      group[&mma_sync_problem::c][&output_lines::rows] = tile.end;
      const val<mma_sync_problem> of = t.let(group);
      const val warp = t.warp_rank();
      const val warp_m = t.let(warp / C.warps_n());
      const val warp_n = t.let(warp % C.warps_n());
      const val column = t.let(tile.n * columns);
      const val of_group = t.let(cast<i64>(tile.group) * all[&mma_sync_problem::batch_b]);
      const val first = t.let(0u), last = t.let(all[&mma_sync_problem::k]);
      const val row_bytes = t.let(all[&mma_sync_problem::lda] * i64{sizeof(T)});
      const val<grouped_gather> gather = t.let(problem[&p::gather]);
      const gathered_rows<val<grouped_gather>> rows{t.let(address_of(a)), row_bytes, tile.end, gather};
      const place at{tile.group, tile.row, column};
      if constexpr (Paired) {
        const val bytes = t.let(cast<u64>(of_group) * u64{sizeof(T)});
        const val apart = C.b == major::k ? val<i64>(t.let(all[&mma_sync_problem::ldb])) : t.let(i64{1});
        const val column_bytes = t.let(cast<u64>(apart) * u64{sizeof(T)});
        const paired_columns<columns> pair{t.let(address_of(b) + bytes), t.let(problem[&p::second] + bytes),
                                           column_bytes,
                                           t.let(all[&mma_sync_problem::c][&output_lines::columns])};
        const val<output_lines> lines = t.let(of[&mma_sync_problem::c]);
        const val<grouped_gate> terms = t.let(problem[&p::terms]);
        body::compute(t, at, {warp_m, warp_n}, rows, pair, first, last, c, of, c, lines, terms, tile.group);
      } else {
        const val<grouped_bias> terms = t.let(problem[&p::terms]);
        body::compute(t, at, {warp_m, warp_n}, rows, b.from(of_group), first, last, c, of, terms);
      }
    }
  }
};

// Launched with a block for each tile that the groups may have.
template <mma_sync_config C, scalar T>
inline constexpr auto grouped_mma =
    kaio::kernel<"matmul_grouped_mma_" + type_name<T> + "_" + mma_sync_name<C>, block_size{C.threads()},
                 kernel_options{.target = {80}, .large_shared = true, .min_blocks = C.min_blocks}>(
        [](thread t, in<T> a, in<T> b, val<output_memory> c,
           val<typename grouped_mma_body<C, T, false>::problem_type> problem) {
          grouped_mma_body<C, T, false>::run(t, a, b, c, problem);
        });
template <mma_sync_config C, scalar T>
inline constexpr auto grouped_gate_up_mma =
    kaio::kernel<"gate_up_grouped_mma_" + type_name<T> + "_" + mma_sync_name<C>, block_size{C.threads()},
                 kernel_options{.target = {80}, .large_shared = true, .min_blocks = C.min_blocks}>(
        [](thread t, in<T> a, in<T> b, val<output_memory> c,
           val<typename grouped_mma_body<C, T, true>::problem_type> problem) {
          grouped_mma_body<C, T, true>::run(t, a, b, c, problem);
        });

}  // namespace kaio::ops
