// The persistent kernels for sm_90a, alpha alone: bf16 into f32.

#include "ops/matmul/sm90_configs.hpp"

namespace kaio::ops {

void add_sm90_bf16_f32(variant_list& list) { add_sm90_scaled_tiles<bf16, f32>(list); }

}  // namespace kaio::ops
