// attention_decode with matrix instructions of a warp: f16 on sm_80 and later.

#include "ops/attention/decode/mma_sync/rows.hpp"

namespace kaio::ops {

std::span<const attention_decode_variant> attention_decode_mma_f16() {
  return attention_decode_mma_rows<f16>();
}

void list_attention_decode_mma_f16_kernels(std::vector<const ptx::kernel_image*>& list) {
  for (const attention_decode_variant& v : attention_decode_mma_f16()) list.push_back(v.image);
}

}  // namespace kaio::ops
