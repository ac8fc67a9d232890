// qkv_project in one launch: few rows of x by f16 and bf16, on sm_90 and later.

#include <kaio/ops/qkv_project/skinny/w16.hpp>

#include <array>
#include <type_traits>

#include "ops/qkv_project/choice/variant.hpp"

namespace kaio::ops {

namespace {

template <std::uint32_t Rows, class T>
qkv_few_rows_variant describe() {
  constexpr w4_config config = qkv_w16_rows(Rows);
  using cluster = qkv_w4_cluster<config>;
  return {.image = &qkv_project_w16<Rows, T>.image(),
          .run =
              [](const stream& s, const qkv_few_rows_call& call) {
                const std::uint32_t size = cluster::blocks_n * call.product.splits;
                qkv_project_w16<Rows, T>.launch(s, grid(call.blocks).cluster(size).programmatic(),
                                                call.product, call.heads, call.matrices,
                                                call.constant_weights ? 1u : 0u);
              },
          .type = std::is_same_v<T, f16> ? element_type::f16 : element_type::bf16,
          .bits = 16,
          .rows = Rows,
          .blocks_n = cluster::blocks_n,
          .warps_k = config.warps_k(),
          .resident = config.min_blocks};
}

}  // namespace

std::span<const qkv_few_rows_variant> qkv_w16_variants() {
  static const auto& rows =
      *new std::array{describe<8, f16>(), describe<16, f16>(), describe<8, bf16>(), describe<16, bf16>()};
  return rows;
}

void list_qkv_w16_kernels(std::vector<const ptx::kernel_image*>& list) {
  for (const qkv_few_rows_variant& v : qkv_w16_variants()) list.push_back(v.image);
}

}  // namespace kaio::ops
