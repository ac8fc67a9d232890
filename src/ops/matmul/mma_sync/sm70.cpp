// Matrix instructions of a warp: f16 on sm_70.

#include "ops/matmul/mma_sync/rows.hpp"

namespace kaio::ops {

namespace {

template <major A, major B>
using quads = quad_product<A == major::k ? matrix_order::row : matrix_order::col,
                           B == major::k ? matrix_order::col : matrix_order::row>;

template <major A, major B>
void add(variant_list& list) {
  add_mma_sync_cut<mma_cuts::large_sm70(A, B), quads<A, B>>(list);
  add_mma_sync_cut<unaligned_cut<32>(A, B), quads<A, B>>(list);
}

}  // namespace

void add_mma_sync_sm70(variant_list& list) {
  add<major::k, major::k>(list);
  add<major::k, major::mn>(list);
  add<major::mn, major::k>(list);
  add<major::mn, major::mn>(list);
}

}  // namespace kaio::ops
