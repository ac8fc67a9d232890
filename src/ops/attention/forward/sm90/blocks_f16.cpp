// Attention by wgmma and tensor copies for block-sparse masks: f16 on sm_90a.

#include "ops/attention/forward/sm90/rows.hpp"

namespace kaio::ops {

std::span<const attention_variant> attention_sm90_blocks_f16() { return attention_sm90_blocks_rows<f16>(); }

void list_attention_sm90_blocks_f16_kernels(std::vector<const ptx::kernel_image*>& list) {
  for (const attention_variant& v : attention_sm90_blocks_f16()) list.push_back(v.image);
}

}  // namespace kaio::ops
