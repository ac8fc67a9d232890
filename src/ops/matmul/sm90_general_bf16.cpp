// The persistent kernels for sm_90a with all terms: bf16 into any type.

#include "ops/matmul/sm90_configs.hpp"

namespace kaio::ops {

void add_sm90_general_bf16(variant_list& list) { add_sm90_general_tiles<bf16>(list); }

}  // namespace kaio::ops
