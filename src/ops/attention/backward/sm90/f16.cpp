// The backward of attention by wgmma and tensor copies: f16 on sm_90a.

#include "ops/attention/backward/sm90/rows.hpp"

namespace kaio::ops {

std::span<const attention_backward_variant> attention_backward_sm90_f16() {
  return attention_backward_sm90_rows<f16>();
}

void list_attention_backward_sm90_f16_kernels(std::vector<const ptx::kernel_image*>& list) {
  list_attention_backward_sm90<f16>(list);
}

}  // namespace kaio::ops
