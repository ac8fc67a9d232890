// The backward of attention with matrix instructions of a warp: f16 on sm_80 and later.

#include "ops/attention/backward/mma_sync/rows.hpp"

namespace kaio::ops {

std::span<const attention_backward_variant> attention_backward_mma_f16() {
  return attention_backward_mma_rows<f16>();
}

void list_attention_backward_mma_f16_kernels(std::vector<const ptx::kernel_image*>& list) {
  for (const attention_backward_variant& v : attention_backward_mma_f16())
    list.insert(list.end(), {v.images[0], v.images[1]});
}

}  // namespace kaio::ops
