// Matrix instructions of a warp: f16 on sm_75, without asynchronous copies.

#include "ops/matmul/mma_sync/rows.hpp"

namespace kaio::ops {

void add_mma_sync_sm75(variant_list& list) {
  add_mma_sync_layouts<mma_cuts::large_sm75, instruction_product<mma_m16n8k8<f32, f16>>>(list);
}

}  // namespace kaio::ops
