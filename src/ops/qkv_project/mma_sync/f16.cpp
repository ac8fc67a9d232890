// qkv_project in one launch: f16 on sm_80 and later.

#include "ops/qkv_project/mma_sync/rows.hpp"

namespace kaio::ops {

std::span<const qkv_variant> qkv_mma_f16_rows() { return qkv_mma_rows<f16>(); }

void list_qkv_mma_f16_kernels(std::vector<const ptx::kernel_image*>& list) {
  for (const qkv_variant& v : qkv_mma_f16_rows()) list.push_back(v.image);
}

}  // namespace kaio::ops
