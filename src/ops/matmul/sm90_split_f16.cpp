// The kernels for sm_90a whose blocks share a tile: f16 into any type.

#include "ops/matmul/sm90_configs.hpp"

namespace kaio::ops {

void add_sm90_split_f16(variant_list& list) { add_sm90_splits<f16>(list); }

}  // namespace kaio::ops
