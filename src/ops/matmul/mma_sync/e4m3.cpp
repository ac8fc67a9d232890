// Matrix instructions of a warp: e4m3 on sm_89 and later. Copies of 16 bytes are only for operands along K.

#include "ops/matmul/mma_sync/rows.hpp"

namespace kaio::ops {

void add_mma_sync_e4m3(variant_list& list) {
  using product = instruction_product<mma_m16n8k32<f32, e4m3>>;
  add_mma_sync_cut<mma_cuts::large_8(), product>(list);
  add_mma_sync_cut<mma_cuts::words_8(), product>(list);
  add_mma_sync_layouts<unaligned_cut<64>, product>(list);
}

}  // namespace kaio::ops
