// Matrix instructions of a warp: bf16 on sm_80 and later.

#include "ops/matmul/mma_sync/rows.hpp"

namespace kaio::ops {

void add_mma_sync_bf16(variant_list& list) {
  using product = instruction_product<mma_m16n8k16<f32, bf16>>;
  add_mma_sync_layouts<mma_cuts::large_16, product>(list);
  add_mma_sync_layouts<mma_cuts::small_16, product>(list);
  add_mma_sync_layouts<mma_cuts::small_shifted, product>(list);
  add_mma_sync_layouts<mma_cuts::short_shifted, product>(list);
  add_mma_sync_layouts<mma_cuts::tiny_shifted, product>(list);
  add_mma_sync_layouts<mma_cuts::split_shifted, product>(list);
}

}  // namespace kaio::ops
