// The kernels for sm_90a for few rows: f16 into any type.

#include "ops/matmul/sm90_configs.hpp"

namespace kaio::ops {

void add_sm90_rows_f16(variant_list& list) { add_sm90_few_rows<f16>(list); }

}  // namespace kaio::ops
