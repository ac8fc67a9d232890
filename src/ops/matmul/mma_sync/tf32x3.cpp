// Matrix instructions of a warp: f32 as the sum of two tf32, on sm_80 and later.

#include "ops/matmul/mma_sync/rows.hpp"

namespace kaio::ops {

void add_mma_sync_tf32x3(variant_list& list) {
  add_mma_sync_layouts<mma_cuts::large_tf32x3, tf32x3_product>(list, matmul_precision::tf32x3);
  add_mma_sync_layouts<mma_cuts::anywhere_tf32, tf32x3_product>(list, matmul_precision::tf32x3);
}

}  // namespace kaio::ops
