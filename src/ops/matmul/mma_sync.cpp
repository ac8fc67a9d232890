// The table's rows of the kernels with matrix instructions of a warp.

#include "ops/matmul/mma_sync_variants.hpp"

namespace kaio::ops {

void add_mma_sync(variant_list& list) {
  add_mma_sync_f16(list);
  add_mma_sync_bf16(list);
  add_mma_sync_tf32(list);
  add_mma_sync_tf32x3(list);
  add_mma_sync_e4m3(list);
  add_mma_sync_e5m2(list);
  add_mma_sync_sm75(list);
  add_mma_sync_sm70(list);
}

}  // namespace kaio::ops
