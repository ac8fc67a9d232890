// Attention with multiply-adds, f32, on any architecture, in the blocks of block-sparse masks.

#include "ops/attention/simt/rows.hpp"

namespace kaio::ops {

std::span<const attention_variant> attention_simt_blocks_f32() {
  return attention_simt_rows<f32, block_sparse<band_mask>>();
}

void list_attention_simt_blocks_f32_kernels(std::vector<const ptx::kernel_image*>& list) {
  for (const attention_variant& v : attention_simt_blocks_f32()) list.push_back(v.image);
}

}  // namespace kaio::ops
