#pragma once
// The place and the epilogue of a block in the kernels with matrix instructions of a warp.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/weight_only/mma_sync/block.hpp>
#include <kaio/ops/weight_only/mma_sync/store.hpp>
#include <kaio/ops/weight_only_grouped/common/gate.hpp>
#include <kaio/ops/weight_only_grouped/common/group.hpp>
#include <kaio/ops/weight_only_grouped/common/rows.hpp>

namespace kaio::ops {

// The end of matmul_w4 without splits of K. Addresses that only the epilogue reads are computed there: the
// loop has no registers for them.
template <auto C, scalar T>
struct w4_grouped_end {
  const val<w4_grouped_problem>& all;
  const w4_problem_of_group& inputs;
  const grouped_tile& tile;

  constexpr w4_place_of_block place(thread t) const { return {t.let(0u), t.let(tile.n * C.columns())}; }
  constexpr w4_grouped_rows rows() const { return {all, tile}; }
  static constexpr val<u32> tile_of_warp(thread t, const val<w4_problem>&, const val<u32>& column,
                                         const val<u32>& warp_n) {
    return t.let(column / w4_tile_n + warp_n);
  }
  template <class Totals, class Codes>
  constexpr void store(thread t, const val<w4_problem>&, const w4_block& block, const Totals& totals,
                       const Codes& words) const {
    w4_problem_of_group own = inputs;
    add_w4_outputs(t, own, all, tile);
    store_w4<C, T>(t, own.problem(), block, totals, words, w4_grouped_store{all});
  }
};

}  // namespace kaio::ops
