// The kernels for sm_90a whose blocks share a tile: bf16 into f32.

#include "ops/matmul/sm90_configs.hpp"

namespace kaio::ops {

void add_sm90_split_bf16_f32(variant_list& list) { add_sm90_splits<bf16, f32>(list); }

}  // namespace kaio::ops
