// matmul_w4_grouped and matmul_w8_grouped by multiply-adds: all codes, for devices before sm_80.

#include <kaio/ops/weight_only_grouped/choice/variant.hpp>
#include <kaio/ops/weight_only_grouped/simt/kernel.hpp>

#include <array>
#include <vector>

#include "ops/families.hpp"

namespace kaio::ops {

std::span<const w4_grouped_variant> matmul_w4_grouped_simt_rows() {
  static const auto& rows = *new std::array{w4_grouped_variant{
      .image = &matmul_w4_grouped_simt.image(),
      .run = [](const stream& s, const w4_grouped_problem& problem,
                std::uint64_t blocks) { matmul_w4_grouped_simt.launch(s, grid(blocks), problem); },
      .rows = w4_simt::rows,
      .columns = w4_tile_n,
      .has_act_order = true}};
  return rows;
}

void list_w4_grouped_simt_kernels(std::vector<const ptx::kernel_image*>& list) {
  for (const w4_grouped_variant& v : matmul_w4_grouped_simt_rows()) list.push_back(v.image);
}

}  // namespace kaio::ops
