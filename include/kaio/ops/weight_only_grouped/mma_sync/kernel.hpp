#pragma once
// A grouped product of packed weights with matrix instructions of a warp, from sm_80 on, for groups of more
// rows: a block is that of matmul_w4 for 32 rows (weight_only/mma_sync), with the rows and the weights of its
// group.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/weight_only/mma_sync/kernel.hpp>
#include <kaio/ops/weight_only_grouped/common/end.hpp>
#include <kaio/ops/weight_only_grouped/common/group.hpp>

#include <cstdint>

namespace kaio::ops {

// Zero points and the addresses of a group leave no registers for a second block on a multiprocessor.
template <class D>
constexpr w4_config w4_grouped_mma_rows() {
  w4_config config = w4_rows(32, D::bits, D::offsets);
  if (D::zero_points && D::bits == 4) config.min_blocks = 1;
  return config;
}

template <w4_config C, class D, scalar T>
struct w4_grouped_kernel {
  static constexpr auto name =
      "matmul_w" + decimal<D::bits> + "_grouped_mma_" + D::name + type_name<T> + "_" + decimal<C.rows>;
  static constexpr kernel_options options{.target = {80}, .large_shared = true, .min_blocks = C.min_blocks};
  static constexpr auto kernel =
      kaio::kernel<name, block_size{C.threads()}, options>([](thread t, val<w4_grouped_problem> problem) {
        with_w4_group<C.rows>(t, problem, [&](const grouped_tile& tile) {
          const w4_problem_of_group own = with_w4_inputs<true>(t, problem, tile);
          w4_body<C, D, T>::run(t, own.problem(), w4_grouped_end<C, T>{problem, own, tile});
        });
      });
};

// Launched with a block for each tile that the groups may have.
template <w4_config C, class D, scalar T>
inline constexpr auto matmul_w4_grouped_mma = w4_grouped_kernel<C, D, T>::kernel;

}  // namespace kaio::ops
