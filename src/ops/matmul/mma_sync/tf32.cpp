// Matrix instructions of a warp: f32 rounded to tf32, on sm_80 and later.

#include "ops/matmul/mma_sync/rows.hpp"

namespace kaio::ops {

void add_mma_sync_tf32(variant_list& list) {
  // Columns of an A across K are read one by one; their addresses take the registers of a large tile.
  add_mma_sync_along_k<mma_cuts::large_tf32, tf32_product>(list, matmul_precision::tf32);
  add_mma_sync_layouts<mma_cuts::small_tf32, tf32_product>(list, matmul_precision::tf32);
  add_mma_sync_layouts<mma_cuts::anywhere_tf32, tf32_product>(list, matmul_precision::tf32);
  add_mma_sync_layouts<mma_cuts::split_tf32, tf32_product>(list, matmul_precision::tf32);
}

}  // namespace kaio::ops
