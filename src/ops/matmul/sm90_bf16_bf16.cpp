// The persistent kernels for sm_90a, alpha alone: bf16 into bf16.

#include "ops/matmul/sm90_configs.hpp"

namespace kaio::ops {

void add_sm90_bf16_bf16(variant_list& list) { add_sm90_scaled_tiles<bf16, bf16>(list); }

}  // namespace kaio::ops
