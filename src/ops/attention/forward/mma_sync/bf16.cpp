// Attention by mma.sync: bf16 on sm_80 and later. One kernel for both types with a branch for each product
// would take 1.04 to 1.28 times as long for short sequences on an H200.

#include "ops/attention/forward/mma_sync/rows.hpp"

namespace kaio::ops {

std::span<const attention_variant> attention_mma_bf16() { return attention_mma_rows<bf16>(); }

void list_attention_mma_bf16_kernels(std::vector<const ptx::kernel_image*>& list) {
  for (const attention_variant& v : attention_mma_bf16()) list.push_back(v.image);
}

}  // namespace kaio::ops
