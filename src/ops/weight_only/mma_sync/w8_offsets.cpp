// matmul_w8 with matrix instructions of a warp: integers of eight bits with f32 offsets by f16 and bf16 on
// sm_80 and later. A kernel for 64 rows would take too many registers.

#include <kaio/ops/weight_only/common/decode_bytes.hpp>

#include <vector>

#include "ops/weight_only/common/families.hpp"
#include "ops/weight_only/mma_sync/rows.hpp"

namespace kaio::ops {

std::span<const w4_variant> matmul_w8_offsets_f16() {
  return matmul_w4_rows<w8_integers_and_offsets, f16, 32>();
}
std::span<const w4_variant> matmul_w8_offsets_bf16() {
  return matmul_w4_rows<w8_integers_and_offsets, bf16, 32>();
}

void list_matmul_w8_offsets_kernels(std::vector<const ptx::kernel_image*>& list) {
  for (const auto family : {matmul_w8_offsets_f16, matmul_w8_offsets_bf16})
    for (const w4_variant& v : family()) list.push_back(v.image);
}

}  // namespace kaio::ops
