// f32 by multiply-adds, lines that begin at multiples of 16 bytes.

#include "ops/matmul/simt/rows.hpp"

namespace kaio::ops {

namespace {
inline constexpr simt_config large{
    .m = 128, .n = 128, .k = 8, .thread_m = 16, .thread_n = 8, .stages = 4, .min_blocks = 2};
inline constexpr simt_config small{
    .m = 64, .n = 64, .k = 16, .thread_m = 8, .thread_n = 4, .stages = 3, .min_blocks = 2};
// For few tiles: K is divided among the blocks of a cluster; the smaller ones are those of lines that begin anywhere.
inline constexpr simt_config split{.m = 64,
                                   .n = 64,
                                   .k = 16,
                                   .thread_m = 8,
                                   .thread_n = 4,
                                   .stages = 3,
                                   .min_blocks = 3,
                                   .cluster_splits = 4};
constexpr simt_config aligned(simt_config cut) {
  cut.vector_a = cut.vector_b = 4;
  return cut;
}
}  // namespace

void add_simt_f32(variant_list& list) {
  add_simt_general_layouts<large>(list);
  add_simt_general_layouts<small>(list);
  add_simt_general_layouts<split>(list);
  add_simt_general_layouts<aligned(simt_split_anywhere)>(list);
}

}  // namespace kaio::ops
