// qkv_project in one launch: one row of x by integers of four and eight bits, on sm_90 and later.

#include <kaio/ops/qkv_project/gemv/kernel.hpp>
#include <kaio/ops/weight_only/gemv/launch.hpp>

#include <array>
#include <type_traits>

#include "ops/qkv_project/choice/variant.hpp"

namespace kaio::ops {

namespace {

template <const w4_one_row_config& C, class T>
qkv_few_rows_variant describe() {
  return {.image = &qkv_project_w4_one_row<C, T>.image(),
          .run =
              [](const stream& s, const qkv_few_rows_call& call) {
                const w4_one_row_launch launch(call.product.w.tiles_n / qkv_one_row_tiles +
                                                   (call.product.w.tiles_n % qkv_one_row_tiles != 0),
                                               call.product.splits, s.properties(), call.norm);
                w4_problem product = call.product;
                product.constant = call.constant_weights ? 1 : 0;
                qkv_project_w4_one_row<C, T>.launch(s, launch.grid(), product, call.heads, launch.work);
              },
          .type = std::is_same_v<T, f16> ? element_type::f16 : element_type::bf16,
          .bits = C.bits,
          .codes = C.bits == 8 ? w4_codes::int8 : w4_codes::int4,
          .rows = 1,
          .one_row = &C,
          .blocks_n = 8 / C.most_splits};
}

}  // namespace

std::span<const qkv_few_rows_variant> qkv_one_row_variants() {
  static const auto& rows = *new std::array{describe<w4_one_row, f16>(), describe<w4_one_row, bf16>(),
                                            describe<w8_one_row, f16>(), describe<w8_one_row, bf16>()};
  return rows;
}

void list_qkv_one_row_kernels(std::vector<const ptx::kernel_image*>& list) {
  for (const qkv_few_rows_variant& v : qkv_one_row_variants()) list.push_back(v.image);
}

}  // namespace kaio::ops
