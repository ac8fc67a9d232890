// The backward of attention with matrix instructions of a warp: bf16 on sm_80 and later.

#include "ops/attention/backward/mma_sync/rows.hpp"

namespace kaio::ops {

std::span<const attention_backward_variant> attention_backward_mma_bf16() {
  return attention_backward_mma_rows<bf16>();
}

void list_attention_backward_mma_bf16_kernels(std::vector<const ptx::kernel_image*>& list) {
  for (const attention_backward_variant& v : attention_backward_mma_bf16())
    list.insert(list.end(), {v.images[0], v.images[1]});
}

}  // namespace kaio::ops
