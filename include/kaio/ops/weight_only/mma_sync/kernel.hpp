#pragma once
// matmul_w4 for sm_80 and later, with warp-level matrix instructions. It computes y = x W^T as Y^T = W X^T:
// the weights are the operand of 16 rows, and rows of x come in eights. A block has 32 or 64 rows of x, 32
// columns of y for each of warps_n warps, and a split of the tiles of K. The warps of a column share these
// tiles:
//
//   32 rows, 128 columns   | 0 .. 3 | 4 .. 7 | 0 .. 3 | ...                warps of the tiles of K
//   64 rows, 256 columns   | all  | all  | ...
//
// All operands pass through shared memory, copied `stages` - 1 tiles ahead. Each warp copies its own codes,
// scales and zero points; the warps that share a tile of x copy it together. At the end the sums of the warps
// of a column are added through shared memory.
//
// Codes are decoded without their scales (decode.hpp). Each group's sum over a tile of K is multiplied by its
// scale in f32 and added to the total: no product of a code and a scale is rounded (warp.hpp).
//
// Sources: Frantar et al., "MARLIN: Mixed-Precision Auto-Regressive Parallel Inference on Large Language
// Models", 2024; Dao-AILab, quack, gemm_w4, 2026, multiplies sums by scales.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/weight_only/common/problem.hpp>
#include <kaio/ops/weight_only/mma_sync/block.hpp>
#include <kaio/ops/weight_only/mma_sync/config.hpp>
#include <kaio/ops/weight_only/mma_sync/copies.hpp>
#include <kaio/ops/weight_only/mma_sync/store.hpp>
#include <kaio/ops/weight_only/mma_sync/warp.hpp>

#include <cstdint>
#include <type_traits>

namespace kaio::ops {

template <w4_config C, class D, scalar T>
struct w4_body {
  static_assert(C.valid(), "kaio: matmul_w4's kernel does not support this tile shape");
  static_assert(C.bits == D::bits && (D::bits == 4 || D::bits == 8));
  static_assert(D::slots == 0 || D::slots == 1 || D::slots == 2 || D::slots == 4);

  // End has these members; the last three are optional:
  //
  //   tile_of_warp    the tile of W of a warp
  //   store           writes the sums
  //   place           the split of K and the first column of the block
  //   begin           work before the first tile has arrived, in a programmatic launch
  //   rows            the rows of x (common/rows.hpp)
  template <class End = w4_product_end<C, T>>
  static constexpr void run(thread t, const val<w4_problem>& problem, const End& end = {}) {
    const w4_rings<C, D, T> rings(t);
    const w4_block block = find_w4_block<C>(t, problem, end);
    const auto rows = w4_rows_of(end);
    w4_copies<C, D, T, std::remove_cv_t<decltype(rows)>> copies(t, rings.x, rings.codes,
                                                                rings.scales_and_zeros, problem, block, rows);
    if constexpr (requires { end.begin(t); }) {
      copies.copy_first(end.weights_are_constant(t));
      end.begin(t);
    } else {
      for ([[maybe_unused]] auto s : t.range(1u, C.stages).no_unroll()) copies.copy();
    }

    w4_warp<C, D, T> warp(t, rings, problem);
    var stage(t, 0u);
    for (auto first : t.range(block.first, block.last, C.warps_k()).no_unroll()) {
      copies.wait();
      copies.copy();
      const auto tile = warp.tile_of(stage, block);
      stage = copies.following(t.let(stage));
      if constexpr (C.warps_k() == 1)
        warp.multiply(tile);
      else if (auto has_tile = t.when(first + block.warp_k < block.last))
        warp.multiply(tile);
    }
    cp_async_wait_group<0>(t);
    end.store(t, problem, block, warp.totals(), rings.codes);
  }
};

template <w4_config C, class D, scalar T>
struct w4_kernel {
  static constexpr auto name =
      "matmul_w" + decimal<D::bits> + "_mma_" + D::name + type_name<T> + "_" + decimal<C.rows>;
  static constexpr kernel_options options{.target = {80}, .large_shared = true, .min_blocks = C.min_blocks};
  static constexpr auto kernel = kaio::kernel<name, block_size{C.threads()}, options>(
      [](thread t, val<w4_problem> problem) { w4_body<C, D, T>::run(t, problem); });
};

// Launched with m_tiles * n_tiles * splits blocks along x.
template <w4_config C, class D, scalar T>
inline constexpr auto matmul_w4_mma = w4_kernel<C, D, T>::kernel;

}  // namespace kaio::ops
