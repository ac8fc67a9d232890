// The kernels for sm_90a for few rows: bf16 into f32.

#include "ops/matmul/sm90_configs.hpp"

namespace kaio::ops {

void add_sm90_rows_bf16_f32(variant_list& list) { add_sm90_few_rows<bf16, f32>(list); }

}  // namespace kaio::ops
