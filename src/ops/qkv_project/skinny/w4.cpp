// qkv_project in one launch: few rows of x by integers of four and eight bits, nf4 and fp4, on sm_90 and
// later.

#include <kaio/ops/qkv_project/skinny/w4.hpp>
#include <kaio/ops/weight_only/common/decode_bytes.hpp>
#include <kaio/ops/weight_only/common/decode_table.hpp>
#include <kaio/ops/weight_only/skinny/residency.hpp>

#include <type_traits>
#include <vector>

#include "ops/qkv_project/choice/variant.hpp"

namespace kaio::ops {

namespace {

template <std::uint32_t Rows, class D, w4_codes Codes, class T>
qkv_few_rows_variant describe() {
  constexpr auto config = qkv_w4_rows<Rows, D>();
  using cluster = qkv_w4_cluster<config>;
  using decoder = typename D::template decoder<T>;
  qkv_few_rows_variant v{.image = &qkv_project_w4<Rows, D, T>.image(),
                         .run =
                             [](const stream& s, const qkv_few_rows_call& call) {
                               const std::uint32_t size = cluster::blocks_n * call.product.splits;
                               const auto& kernel = qkv_project_w4<Rows, D, T>;
                               kernel.launch(
                                   s,
                                   with_w4_resident_blocks(grid(call.blocks).cluster(size).programmatic(),
                                                           kernel.image(), s.properties(), config.min_blocks),
                                   call.product, call.heads, call.constant_weights ? 1u : 0u);
                             },
                         .type = std::is_same_v<T, f16> ? element_type::f16 : element_type::bf16,
                         .bits = D::bits,
                         .codes = Codes,
                         .rows = Rows,
                         .blocks_n = cluster::blocks_n,
                         .warps_k = config.warps_k(),
                         .resident = config.min_blocks};
  if constexpr (requires { decoder::unit; }) v.unit = decoder::unit;
  return v;
}

template <class D, w4_codes Codes>
void append(std::vector<qkv_few_rows_variant>& all) {
  all.insert(all.end(), {describe<8, D, Codes, f16>(), describe<16, D, Codes, f16>(),
                         describe<8, D, Codes, bf16>(), describe<16, D, Codes, bf16>()});
}

}  // namespace

std::span<const qkv_few_rows_variant> qkv_w4_variants() {
  static const auto& rows = *[] {
    auto* const all = new std::vector<qkv_few_rows_variant>;
    append<w4_integers, w4_codes::int4>(*all);
    append<w8_integers, w4_codes::int8>(*all);
    append<w4_table_at_launch, w4_codes::nf4>(*all);
    return all;
  }();
  return rows;
}

void list_qkv_w4_kernels(std::vector<const ptx::kernel_image*>& list) {
  for (const qkv_few_rows_variant& v : qkv_w4_variants()) list.push_back(v.image);
}

}  // namespace kaio::ops
