// The backward of attention by wgmma and tensor copies: bf16 on sm_90a.

#include "ops/attention/backward/sm90/rows.hpp"

namespace kaio::ops {

std::span<const attention_backward_variant> attention_backward_sm90_bf16() {
  return attention_backward_sm90_rows<bf16>();
}

void list_attention_backward_sm90_bf16_kernels(std::vector<const ptx::kernel_image*>& list) {
  for (const attention_backward_variant& v : attention_backward_sm90_bf16())
    for (const ptx::kernel_image* const image : {v.images[0], v.images[1]})
      if (std::find(list.begin(), list.end(), image) == list.end()) list.push_back(image);
}

}  // namespace kaio::ops
