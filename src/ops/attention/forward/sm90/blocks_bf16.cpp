// Attention by wgmma and tensor copies for block-sparse masks: bf16 on sm_90a.

#include "ops/attention/forward/sm90/rows.hpp"

namespace kaio::ops {

std::span<const attention_variant> attention_sm90_blocks_bf16() { return attention_sm90_blocks_rows<bf16>(); }

void list_attention_sm90_blocks_bf16_kernels(std::vector<const ptx::kernel_image*>& list) {
  for (const attention_variant& v : attention_sm90_blocks_bf16()) list.push_back(v.image);
}

}  // namespace kaio::ops
