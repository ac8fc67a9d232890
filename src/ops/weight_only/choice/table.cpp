// All kernels of matmul_w4 and matmul_w8, and which of them are for which weights.

#include <kaio/ops/matmul_w4.hpp>
#include <kaio/ops/weight_only/common/decode_table.hpp>

#include <algorithm>
#include <vector>

#include "ops/families.hpp"
#include "ops/weight_only/common/families.hpp"
#include "ops/weight_only/common/order_x.hpp"

namespace kaio::ops {

namespace {

template <scalar T>
void set_table(w4_problem& p) {
  const bool is_nf4 = p.w.codes_type == static_cast<u32>(w4_codes::nf4);
  p.table = is_nf4 ? w4_table_of<T>(nf4_numbers) : w4_table_of<T>(fp4_numbers_by_12);
  p.unit = is_nf4 ? 1.0f : 1.0f / 12;
}

}  // namespace

void set_w4_numbers(w4_problem& p) {
  const auto codes = static_cast<w4_codes>(p.w.codes_type);
  if (codes != w4_codes::nf4 && codes != w4_codes::fp4) return;
  p.type == static_cast<u32>(element_type::f16) ? set_table<f16>(p) : set_table<bf16>(p);
}

bool are_w4_codes(const w4_shape& shape, w4_codes codes) {
  return !shape.offsets && (shape.codes == codes || (codes == w4_codes::nf4 && shape.codes == w4_codes::fp4));
}

std::span<const w4_variant> w4_family(w4_problem& p) {
  const bool is_half = p.type == static_cast<u32>(element_type::f16);
  set_w4_numbers(p);
  switch (static_cast<w4_codes>(p.w.codes_type)) {
    case w4_codes::nf4:
    case w4_codes::fp4: return is_half ? matmul_w4_table_f16() : matmul_w4_table_bf16();
    case w4_codes::e2m1:
      if (p.w.scale_type == static_cast<u32>(w4_scale_type::e8m0))
        return is_half ? matmul_w4_mxfp4_f16() : matmul_w4_mxfp4_bf16();
      return is_half ? matmul_w4_nvfp4_f16() : matmul_w4_nvfp4_bf16();
    case w4_codes::int8:
      if (p.w.offsets != 0) return is_half ? matmul_w8_offsets_f16() : matmul_w8_offsets_bf16();
      return is_half ? matmul_w8_int8_f16() : matmul_w8_int8_bf16();
    case w4_codes::e4m3: return is_half ? matmul_w8_e4m3_f16() : matmul_w8_e4m3_bf16();
    default:
      if (p.w.offsets != 0) return is_half ? matmul_w4_offsets_f16() : matmul_w4_offsets_bf16();
      return is_half ? matmul_w4_mma_f16() : matmul_w4_mma_bf16();
  }
}

std::vector<const ptx::kernel_image*> w4_kernels() {
  std::vector<const ptx::kernel_image*> list;
  for (const auto family : w4_variant_families)
    for (const w4_variant& v : family())
      if (std::find(list.begin(), list.end(), v.image) == list.end()) list.push_back(v.image);
  list_matmul_w4_combine_kernels(list);
  list_order_w4_x_kernels(list);
  list_w4_repack_kernels(list);
  return list;
}

}  // namespace kaio::ops
