// matmul_w4 with matrix instructions of a warp: tables (nf4, fp4) by f16 and bf16 on sm_80 and later.

#include <kaio/ops/weight_only/common/decode_table.hpp>

#include <vector>

#include "ops/weight_only/common/families.hpp"
#include "ops/weight_only/mma_sync/rows.hpp"

namespace kaio::ops {

std::span<const w4_variant> matmul_w4_table_f16() {
  return matmul_w4_rows<w4_table_at_launch, f16, 32, 64>();
}
std::span<const w4_variant> matmul_w4_table_bf16() {
  return matmul_w4_rows<w4_table_at_launch, bf16, 32, 64>();
}

void list_matmul_w4_table_kernels(std::vector<const ptx::kernel_image*>& list) {
  for (const auto family : {matmul_w4_table_f16, matmul_w4_table_bf16})
    for (const w4_variant& v : family()) list.push_back(v.image);
}

}  // namespace kaio::ops
