// Attention with matrix instructions of a warp: f16 on sm_80 and later, in the blocks of block-sparse masks.

#include "ops/attention/mma_sync/rows.hpp"

namespace kaio::ops {

std::span<const attention_variant> attention_mma_blocks_f16() {
  return attention_mma_rows<f16, block_sparse<band_mask>>();
}

void list_attention_mma_blocks_f16_kernels(std::vector<const ptx::kernel_image*>& list) {
  for (const attention_variant& v : attention_mma_blocks_f16()) list.push_back(v.image);
}

}  // namespace kaio::ops
