// The persistent kernels for sm_90a with all terms: f16 into any type.

#include "ops/matmul/sm90_configs.hpp"

namespace kaio::ops {

void add_sm90_general_f16(variant_list& list) { add_sm90_general_tiles<f16>(list); }

}  // namespace kaio::ops
