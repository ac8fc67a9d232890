// matmul_w4 and matmul_w8 by multiply-adds: all codes, for devices before sm_80.

#include <kaio/ops/weight_only/simt/kernel.hpp>

#include <array>
#include <vector>

#include "ops/weight_only/common/families.hpp"

namespace kaio::ops {

std::span<const w4_variant> matmul_w4_simt_rows() {
  static const auto& rows = *new std::array{
      w4_variant{.image = &matmul_w4_simt.image(),
                 .run = [](const stream& s, const w4_problem& problem,
                           std::uint64_t blocks) { matmul_w4_simt.launch(s, grid(blocks), problem); },
                 .rows = w4_simt::rows,
                 .columns = w4_tile_n,
                 .resident = 4}};
  return rows;
}

void list_matmul_w4_simt_kernels(std::vector<const ptx::kernel_image*>& list) {
  for (const w4_variant& v : matmul_w4_simt_rows()) list.push_back(v.image);
}

}  // namespace kaio::ops
