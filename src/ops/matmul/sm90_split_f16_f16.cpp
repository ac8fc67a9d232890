// The kernels for sm_90a whose blocks share a tile: f16 into f16.

#include "ops/matmul/sm90_configs.hpp"

namespace kaio::ops {

void add_sm90_split_f16_f16(variant_list& list) { add_sm90_splits<f16, f16>(list); }

}  // namespace kaio::ops
