// f32 by multiply-adds, lines that begin at multiples of 16 bytes.

#include "ops/matmul/simt/rows.hpp"

namespace kaio::ops {

namespace {
inline constexpr simt_config large{
    .m = 128, .n = 128, .k = 8, .thread_m = 16, .thread_n = 8, .stages = 4, .min_blocks = 2};
inline constexpr simt_config small{
    .m = 64, .n = 64, .k = 16, .thread_m = 8, .thread_n = 4, .stages = 3, .min_blocks = 2};
}  // namespace

void add_simt_f32(variant_list& list) {
  add_simt_scaled_layouts<large>(list);
  add_simt_general_layouts<large>(list);
  add_simt_general_layouts<small>(list);
}

}  // namespace kaio::ops
