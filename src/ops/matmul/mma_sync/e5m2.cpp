// Matrix instructions of a warp: e5m2 on sm_89 and later. Copies of words are only for operands along K.
// Large products of two e5m2 are rare, and have no tiles of their own.

#include "ops/matmul/mma_sync/rows.hpp"

namespace kaio::ops {

void add_mma_sync_e5m2(variant_list& list) {
  using product = instruction_product<mma_m16n8k32<f32, e5m2>>;
  add_mma_sync_cut<mma_cuts::words_8(), product>(list);
  add_mma_sync_layouts<unaligned_cut<64>, product>(list);
}

}  // namespace kaio::ops
