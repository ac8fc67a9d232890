// qkv_project in one launch: bf16 on sm_90a.

#include "ops/qkv_project/sm90/rows.hpp"

namespace kaio::ops {

std::span<const qkv_variant> qkv_sm90_bf16_rows() { return qkv_sm90_rows<bf16>(); }

void list_qkv_sm90_bf16_kernels(std::vector<const ptx::kernel_image*>& list) {
  for (const qkv_variant& v : qkv_sm90_bf16_rows()) list.push_back(v.image);
}

}  // namespace kaio::ops
