// Attention with multiply-adds: f16, for architectures before the matrix instructions that the other families
// use.

#include "ops/attention/simt/rows.hpp"

namespace kaio::ops {

std::span<const attention_variant> attention_simt_f16() { return attention_simt_rows<f16>(); }

void list_attention_simt_f16_kernels(std::vector<const ptx::kernel_image*>& list) {
  for (const attention_variant& v : attention_simt_f16()) list.push_back(v.image);
}

}  // namespace kaio::ops
