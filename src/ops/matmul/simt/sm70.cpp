// f32 by multiply-adds on sm_70: lines that begin anywhere.

#include "ops/matmul/simt/rows.hpp"

namespace kaio::ops {

namespace {
constexpr simt_config through_registers() {
  simt_config cut = simt_anywhere;
  cut.stages = 2;
  cut.async = false;
  return cut;
}
inline constexpr simt_config cut = through_registers();
}  // namespace

void add_simt_sm70(variant_list& list) { add_simt_general_layouts<cut>(list); }

}  // namespace kaio::ops
