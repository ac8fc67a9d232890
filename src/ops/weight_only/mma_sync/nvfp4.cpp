// matmul_w4 with matrix instructions of a warp: e2m1 with scales of e4m3 by f16 and bf16 on sm_80 and later.

#include <kaio/ops/weight_only/common/decode_e2m1.hpp>

#include <vector>

#include "ops/weight_only/common/families.hpp"
#include "ops/weight_only/mma_sync/rows.hpp"

namespace kaio::ops {

std::span<const w4_variant> matmul_w4_nvfp4_f16() { return matmul_w4_rows<w4_nvfp4, f16, 32, 64>(); }
std::span<const w4_variant> matmul_w4_nvfp4_bf16() { return matmul_w4_rows<w4_nvfp4, bf16, 32, 64>(); }

void list_matmul_w4_nvfp4_kernels(std::vector<const ptx::kernel_image*>& list) {
  for (const auto family : {matmul_w4_nvfp4_f16, matmul_w4_nvfp4_bf16})
    for (const w4_variant& v : family()) list.push_back(v.image);
}

}  // namespace kaio::ops
