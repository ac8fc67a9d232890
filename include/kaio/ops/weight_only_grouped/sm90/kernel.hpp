#pragma once
// A grouped product of packed weights for sm_90a and groups of many rows: a block is that of matmul_w4 for 32
// or 64 rows (weight_only/sm90), with the weights of its group. x is one matrix for all groups. Rows after a
// group's end belong to the next one; they are multiplied, and not stored. Rows may be gathered (rows.hpp).

#include <kaio/dsl/cluster.hpp>
#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/weight_only/sm90/kernel.hpp>
#include <kaio/ops/weight_only_grouped/common/gate.hpp>
#include <kaio/ops/weight_only_grouped/common/group.hpp>
#include <kaio/ops/weight_only_grouped/sm90/rows.hpp>

#include <cstdint>

namespace kaio::ops {

template <w4_sm90_config C, class D, scalar T>
struct w4_grouped_sm90_kernel {
  static_assert(!C.has_edge(), "kaio: a tile ends where its group ends, which the launch does not know");
  static constexpr auto name =
      "matmul_w" + decimal<D::bits> + "_grouped_sm90_" + D::name + type_name<T> + "_" + decimal<C.rows>;
  static constexpr kernel_options options{.target = {90, true}, .large_shared = true, .min_blocks = 1};
  static constexpr auto kernel = kaio::kernel<name, block_size{C.threads()}, options>(
      [](thread t, tensor_map<T, 2> x, val<w4_grouped_problem> problem) {
        grid_dependency_wait(t);
        with_w4_group<C.rows>(t, problem, [&](const grouped_tile& tile) {
          w4_problem_of_group own = with_w4_weights<false>(t, problem, tile, 1);
          add_w4_columns(t, own, problem, tile);
          own.replace(&w4_problem::m, tile.end);
          const auto find_tile = [&] {
            return w4_sm90_tile{t.let(0u), t.let(tile.row + 0u), t.let(tile.n * C.columns()), t.let(C.rows)};
          };
          const val by_warps = t.let(problem[&w4_grouped_problem::by_warps] != 0u);
          w4_sm90_body<C, D, T>::run(t, w4_sm90_grouped_rows<C, T>{x, by_warps, {problem, tile}},
                                     own.problem(), find_tile, w4_grouped_store{problem});
        });
      });
};

// Launched with a block for each tile that the groups may have; the launch may be programmatic.
template <w4_sm90_config C, class D, scalar T>
inline constexpr auto matmul_w4_grouped_sm90 = w4_grouped_sm90_kernel<C, D, T>::kernel;

}  // namespace kaio::ops
