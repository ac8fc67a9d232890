// Products of 8-bit floats on sm_90a, both operands along K: wgmma takes no other layout of 8-bit operands.

#include "ops/matmul_8bit/fp8/sm90_rows.hpp"

namespace kaio::ops {

void add_fp8_sm90(variant_list& list) {
  constexpr sm90_config medium_scaled{.m = 128, .n = 128, .stages = 6, .whole_producer = true};
  append_fp8_scaled<bytes_large>(list);
  append_fp8_scaled<medium_scaled>(list);
  append_fp8_scaled<bytes_64x128>(list);
  append_fp8_scaled<bytes_64x64>(list);
  append_fp8_scaled<bytes_64x32>(list);
  append_fp8_tile<bytes_medium, e4m3, fp8_general>(list);
  append_fp8_tile<bytes_medium, e5m2, fp8_general>(list);
  append_fp8_split<few_rows_16, fp8_general>(list);
  append_fp8_split<few_rows_32, fp8_general>(list);
  append_fp8_split<few_rows_64, fp8_general>(list);
}

}  // namespace kaio::ops
