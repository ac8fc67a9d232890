// Products of e4m3 with group scales on sm_90a, both operands along K.

#include "ops/matmul_8bit/fp8/sm90_rows.hpp"

namespace kaio::ops {

void add_fp8_groups_sm90(variant_list& list) {
  using grouped = fp8_grouped<fp8_general>;
  using grouped_alone = fp8_grouped<fp8_alpha>;
  constexpr sm90_config large{.m = 128, .n = 256, .stages = 4, .cluster_m = 2, .whole_producer = true};
  constexpr sm90_config medium{.m = 128, .n = 128, .stages = 6, .whole_producer = true};
  append_fp8_in_registers<large, bf16, grouped_alone>(list);
  append_fp8_in_registers<medium, bf16, grouped_alone>(list);
  append_fp8_tile<medium, e4m3, grouped>(list);
  append_fp8_split<few_rows_16, grouped>(list);
  append_fp8_split<few_rows_32, grouped>(list);
  append_fp8_split<few_rows_64, grouped>(list);
}

}  // namespace kaio::ops
