// f32 by multiply-adds, tiles by tensor copies: for sm_90.

#include "ops/matmul/simt/rows.hpp"

namespace kaio::ops {

namespace {
inline constexpr simt_config large{.m = 128,
                                   .n = 128,
                                   .k = 8,
                                   .thread_m = 16,
                                   .thread_n = 8,
                                   .stages = 4,
                                   .min_blocks = 2,
                                   .clusters = true};
}  // namespace

void add_simt_f32_tensor(variant_list& list) {
  add_simt_tensor<with_lines<large>(major::k, major::k)>(list);
  add_simt_tensor<with_lines<large>(major::k, major::mn)>(list);
  add_simt_tensor<with_lines<large>(major::mn, major::k)>(list);
  add_simt_tensor<with_lines<large>(major::mn, major::mn)>(list);
}

}  // namespace kaio::ops
