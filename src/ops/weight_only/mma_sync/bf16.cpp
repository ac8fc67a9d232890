// matmul_w4 with matrix instructions of a warp: integers by bf16 on sm_80 and later.

#include <vector>

#include "ops/weight_only/common/families.hpp"
#include "ops/weight_only/mma_sync/rows.hpp"

namespace kaio::ops {

std::span<const w4_variant> matmul_w4_mma_bf16() { return matmul_w4_rows<w4_integers, bf16, 32, 64>(); }

void list_matmul_w4_bf16_kernels(std::vector<const ptx::kernel_image*>& list) {
  for (const w4_variant& v : matmul_w4_mma_bf16()) list.push_back(v.image);
}

}  // namespace kaio::ops
