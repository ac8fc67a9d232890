// The kernels for sm_90a for few rows: bf16 into any type.

#include "ops/matmul/sm90_configs.hpp"

namespace kaio::ops {

void add_sm90_rows_bf16(variant_list& list) { add_sm90_few_rows<bf16>(list); }

}  // namespace kaio::ops
