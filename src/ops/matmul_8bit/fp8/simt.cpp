// Products of 8-bit floats of either format by f32 multiply-adds, from sm_70 on: for devices before sm_80,
// any layout, any address. If there are no group scales, they are 1.

#include <kaio/ops/matmul_8bit/fp8/source.hpp>

#include "ops/matmul_8bit/common/simt_rows.hpp"
#include "ops/matmul_8bit/fp8/call.hpp"

namespace kaio::ops {

namespace {

using epilogue_of_any = fp8_grouped<fp8_general, true>;

constexpr u32 format_of(element_kind type) { return type == element_kind::e5m2 ? 1 : 0; }

}  // namespace

void add_fp8_simt(variant_list& list) {
  matmul_variant row = describe_simt_bytes<fp8_singles, fp8_output, epilogue_of_any>();
  for (const element_kind operand : {element_kind::e4m3, element_kind::e5m2})
    for (const line_direction a : {line_direction::along_k, line_direction::across_k})
      for (const line_direction b : {line_direction::along_k, line_direction::across_k}) {
        row.operand = operand;
        row.a = a;
        row.b = b;
        add_fp8_rows(list, row, [](const stream& s, const fp8_call& call, const matmul_variant&) {
          launch_simt_bytes<fp8_singles, fp8_output, epilogue_of_any>(
              s, call, format_of(call.operand), format_of(call.operand_b), call.epilogue);
        });
      }
}

}  // namespace kaio::ops
