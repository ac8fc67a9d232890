// Products of i8 by dp4a, from sm_70 on: for devices before sm_80, B by columns or by rows, at any address.

#include <kaio/ops/matmul_8bit/int8/source.hpp>

#include "ops/matmul_8bit/common/simt_rows.hpp"
#include "ops/matmul_8bit/int8/call.hpp"

namespace kaio::ops {

void add_int8_simt(variant_list& list) {
  matmul_variant row = describe_simt_bytes<int8_fours, int8_output, int8_general>();
  row.operand = element_kind::i8;
  for (const line_direction b : {line_direction::along_k, line_direction::across_k}) {
    row.b = b;
    add_int8_rows(list, row, [](const stream& s, const int8_call& call, const matmul_variant&) {
      launch_simt_bytes<int8_fours, int8_output, int8_general>(s, call, 0, 0, call.epilogue);
    });
  }
}

}  // namespace kaio::ops
