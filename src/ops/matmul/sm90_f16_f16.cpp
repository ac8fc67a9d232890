// The persistent kernels for sm_90a, alpha alone: f16 into f16.

#include "ops/matmul/sm90_configs.hpp"

namespace kaio::ops {

void add_sm90_f16_f16(variant_list& list) { add_sm90_scaled_tiles<f16, f16>(list); }

}  // namespace kaio::ops
