// f32 by multiply-adds: lines that begin anywhere, and outputs of 16 bits.

#include "ops/matmul/simt_variants.hpp"

namespace kaio::ops {

namespace {
inline constexpr simt_config cut{.m = 64,
                                 .n = 64,
                                 .k = 16,
                                 .thread_m = 8,
                                 .thread_n = 4,
                                 .stages = 3,
                                 .min_blocks = 2,
                                 .vector_a = 1,
                                 .vector_b = 1};
}  // namespace

void add_simt_any(variant_list& list) {
  add_simt_layouts<cut, f32, general>(list);
  add_simt_layouts<cut, f16, general>(list);
  add_simt_layouts<cut, bf16, general>(list);
}

}  // namespace kaio::ops
