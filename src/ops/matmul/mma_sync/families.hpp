#pragma once
// The library's tiles of matrix instructions of a warp, by element type and architecture. A function is a template, so that
// the object of a family has only its own kernels.

#include <type_traits>

#include "ops/matmul/mma_sync/rows.hpp"

namespace kaio::ops {

// f16 or bf16, on sm_80 and later.
template <class T>
void add_mma_sync_half_tiles(variant_list& list) {
  using product = instruction_product<mma_m16n8k16<f32, T>>;
  add_mma_sync_layouts<mma_cuts::large_16, product>(list);
  add_mma_sync_layouts<mma_cuts::small_16, product>(list);
  add_mma_sync_layouts<mma_cuts::small_shifted, product>(list);
  add_mma_sync_layouts<mma_cuts::short_shifted, product>(list);
  add_mma_sync_layouts<mma_cuts::tiny_shifted, product>(list);
  add_mma_sync_layouts<mma_cuts::split_shifted, product>(list);
}

// f32 rounded to tf32, on sm_80 and later.
template <class = void>
void add_mma_sync_tf32_tiles(variant_list& list) {
  // Columns of an A across K are read one by one; their addresses take the registers of a large tile.
  add_mma_sync_along_k<mma_cuts::large_tf32, tf32_product>(list, matmul_precision::tf32);
  add_mma_sync_layouts<mma_cuts::small_tf32, tf32_product>(list, matmul_precision::tf32);
  add_mma_sync_layouts<mma_cuts::anywhere_tf32, tf32_product>(list, matmul_precision::tf32);
  add_mma_sync_layouts<mma_cuts::split_tf32, tf32_product>(list, matmul_precision::tf32);
}

// f32 as the sum of two tf32, on sm_80 and later.
template <class = void>
void add_mma_sync_tf32x3_tiles(variant_list& list) {
  add_mma_sync_layouts<mma_cuts::large_tf32x3, tf32x3_product>(list, matmul_precision::tf32x3);
  add_mma_sync_layouts<mma_cuts::anywhere_tf32, tf32x3_product>(list, matmul_precision::tf32x3);
}

// e4m3 or e5m2, on sm_89 and later. Copies of 16 bytes and of words are only for operands along K. Large products of two
// e5m2 are rare, and have no tiles of their own.
template <class T>
void add_mma_sync_f8_tiles(variant_list& list) {
  using product = instruction_product<mma_m16n8k32<f32, T>>;
  if constexpr (std::is_same_v<T, e4m3>) add_mma_sync_cut<mma_cuts::large_8(), product>(list);
  add_mma_sync_cut<mma_cuts::words_8(), product>(list);
  add_mma_sync_layouts<unaligned_cut<64>, product>(list);
}

// f16 on sm_75, which has no asynchronous copies.
template <class = void>
void add_mma_sync_sm75_tiles(variant_list& list) {
  add_mma_sync_layouts<mma_cuts::large_sm75, instruction_product<mma_m16n8k8<f32, f16>>>(list);
}

// f16 on sm_70: lanes multiply in quads, in the order of each operand's lines.
template <major A, major B>
using sm70_product = quad_product<A == major::k ? matrix_order::row : matrix_order::col,
                                  B == major::k ? matrix_order::col : matrix_order::row>;
template <major A, major B>
void add_mma_sync_sm70_layout(variant_list& list) {
  add_mma_sync_cut<mma_cuts::large_sm70(A, B), sm70_product<A, B>>(list);
  add_mma_sync_cut<unaligned_cut<32>(A, B), sm70_product<A, B>>(list);
}
template <class = void>
void add_mma_sync_sm70_tiles(variant_list& list) {
  add_mma_sync_sm70_layout<major::k, major::k>(list);
  add_mma_sync_sm70_layout<major::k, major::mn>(list);
  add_mma_sync_sm70_layout<major::mn, major::k>(list);
  add_mma_sync_sm70_layout<major::mn, major::mn>(list);
}

}  // namespace kaio::ops
