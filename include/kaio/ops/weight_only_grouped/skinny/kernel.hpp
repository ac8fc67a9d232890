#pragma once
// A grouped product of packed weights for groups of few rows: a block is that of matmul_w4 for up to 8 or 16
// rows, with the rows and the weights of its group. A launch has a block for each tile that the groups may
// have; blocks without a tile end at once.
//
// From sm_90 on the launch is programmatic. The offsets of groups are results of earlier work, so nothing is
// copied before that has ended.

#include <kaio/dsl/cluster.hpp>
#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/weight_only/skinny/kernel.hpp>
#include <kaio/ops/weight_only_grouped/common/end.hpp>
#include <kaio/ops/weight_only_grouped/common/find.hpp>
#include <kaio/ops/weight_only_grouped/common/group.hpp>

#include <cstdint>

namespace kaio::ops {

template <class D, scalar T, std::uint32_t Rows, std::uint32_t Sm>
struct w4_grouped_few_rows_kernel {
  static constexpr w4_few_rows_config config = w4_few_rows_of<D>(Rows, Sm);
  using body = w4_few_rows_body<config, D, T>;
  using end = w4_grouped_end<config, T>;
  static constexpr auto name = "matmul_w" + decimal<D::bits> + "_grouped_few_rows_" + D::name + type_name<T> +
                               "_" + decimal<Rows> + "_sm" + decimal<Sm>;
  static constexpr kernel_options options{
      .target = {Sm}, .large_shared = true, .min_blocks = config.min_blocks};
  static constexpr auto kernel = kaio::kernel<name, block_size{config.threads()}, options>(
      [](thread t, val<w4_grouped_problem> problem) {
        if constexpr (Sm >= 90) {
          launch_dependents(t);
          grid_dependency_wait(t);
        }
        const auto tiles = problem[&w4_grouped_problem::tiles];
        const grouped_tile tile = find_grouped_tile<Rows>(t, tiles, t.let(block_idx_x() + 0u));
        if (auto exists = t.when(tile.exists)) {
          const w4_problem_of_group own = with_w4_inputs<false>(t, problem, tile);
          body::run(t, own.problem(), end{problem, own, tile});
        }
      });
};

// Launched with a block for each tile that the groups may have; from sm_90 on the launch may be programmatic.
template <class D, scalar T, std::uint32_t Rows, std::uint32_t Sm>
inline constexpr auto matmul_w4_grouped_few_rows = w4_grouped_few_rows_kernel<D, T, Rows, Sm>::kernel;

}  // namespace kaio::ops
