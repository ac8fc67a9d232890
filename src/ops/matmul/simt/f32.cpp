// f32 by multiply-adds, lines that begin at multiples of 16 bytes.

#include "ops/matmul/simt/rows.hpp"
#include "ops/matmul/simt/splits.hpp"

namespace kaio::ops {

namespace {
inline constexpr simt_config small{
    .m = 64, .n = 64, .k = 16, .thread_m = 8, .thread_n = 4, .stages = 3, .min_blocks = 2};
constexpr simt_config aligned(simt_config cut) {
  cut.vector_a = cut.vector_b = 4;
  return cut;
}
}  // namespace

void add_simt_f32(variant_list& list) {
  add_simt_general_layouts<small>(list);
  add_simt_general_layouts<aligned(simt_splits_64)>(list);
  add_simt_general_layouts<aligned(simt_splits_32)>(list);
}

}  // namespace kaio::ops
