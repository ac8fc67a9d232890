#pragma once
// The tile shapes of the matmul kernels with matrix instructions of a warp, for each kind of product. `large`
// is for problems that fill a device, `small` for those that do not. `shifted` and `unaligned` are for
// operands whose lines begin anywhere. On every target their kernels hold all sums in registers without
// spilling, and `min_blocks` blocks share a multiprocessor.
//
//   inline constexpr auto& multiply =
//       mma_sync_matmul<mma_cuts::large_16(major::k, major::mn),
//                       instruction_product<mma_m16n8k16<f32, f16>>, f16, identity>;

#include <kaio/ops/matmul/mma_sync/config.hpp>

namespace kaio::ops::mma_cuts {

// Elements of 16 bits on sm_80.
constexpr mma_sync_config large_16(major a, major b) {
  return {
      .m = 128, .n = 128, .k = 32, .warp_m = 64, .warp_n = 64, .stages = 4, .min_blocks = 2, .a = a, .b = b};
}
constexpr mma_sync_config small_16(major a, major b) {
  return {
      .m = 64, .n = 64, .k = 64, .warp_m = 32, .warp_n = 32, .stages = 3, .min_blocks = 3, .a = a, .b = b};
}

// f32 as tf32 on sm_80; x3: as three products of tf32, with smaller warps because the remainders take
// registers too.
constexpr mma_sync_config large_tf32(major a, major b) {
  return {
      .m = 128, .n = 128, .k = 32, .warp_m = 64, .warp_n = 64, .stages = 3, .min_blocks = 2, .a = a, .b = b};
}
constexpr mma_sync_config large_tf32x3(major a, major b) {
  return {
      .m = 128, .n = 128, .k = 32, .warp_m = 32, .warp_n = 64, .stages = 3, .min_blocks = 1, .a = a, .b = b};
}

// For products with too few large tiles to fill a device.
constexpr mma_sync_config small_tf32(major a, major b) {
  return {
      .m = 64, .n = 64, .k = 32, .warp_m = 32, .warp_n = 32, .stages = 4, .min_blocks = 3, .a = a, .b = b};
}
// Lines that begin anywhere.
constexpr mma_sync_config anywhere_tf32(major a, major b) {
  mma_sync_config result = small_tf32(a, b);
  result.stages = 3;
  result.copy_a = copy_form::async_words;
  result.copy_b = copy_form::async_words;
  return result;
}
// For a C that is small next to a long K: 8 or 16 blocks of a cluster share a tile. Lines begin anywhere;
// sm_90.
constexpr mma_sync_config split_tf32(major a, major b) {
  return {.m = 32,
          .n = 32,
          .k = 64,
          .warp_m = 16,
          .warp_n = 16,
          .stages = 3,
          .min_blocks = 3,
          .a = a,
          .b = b,
          .copy_a = copy_form::async_words,
          .copy_b = copy_form::async_words,
          .cluster_splits = 0};
}

// Elements of 8 bits on sm_89, along K.
constexpr mma_sync_config large_8() {
  return {.m = 128,
          .n = 128,
          .k = 64,
          .warp_m = 64,
          .warp_n = 64,
          .stages = 4,
          .min_blocks = 2,
          .a = major::k,
          .b = major::k};
}

// With smaller warps: the epilogue keeps numbers of its own in registers.
constexpr mma_sync_config large_8_narrow() {
  mma_sync_config result = large_8();
  result.warp_n = 32;
  result.min_blocks = 1;
  return result;
}

// For lines of 8-bit elements that begin at multiples of 4 bytes.
constexpr mma_sync_config words_8() {
  return {.m = 64,
          .n = 64,
          .k = 64,
          .warp_m = 32,
          .warp_n = 32,
          .stages = 4,
          .min_blocks = 3,
          .a = major::k,
          .b = major::k,
          .copy_a = copy_form::async_words,
          .copy_b = copy_form::async_words};
}

// For epilogues that promote: both sums and totals are in registers.
constexpr mma_sync_config promoted_8() {
  mma_sync_config result = large_8();
  result.n = 64;
  result.warp_m = result.warp_n = 32;
  result.min_blocks = 1;
  return result;
}

// f16 without asynchronous copies: on sm_75, and by m8n8k4 on sm_70.
constexpr mma_sync_config large_sm75(major a, major b) {
  return {.m = 128,
          .n = 128,
          .k = 32,
          .warp_m = 64,
          .warp_n = 32,
          .stages = 2,
          .min_blocks = 1,
          .a = a,
          .b = b,
          .copy_a = copy_form::vectors,
          .copy_b = copy_form::vectors};
}
// Elements of 8 bits on sm_75, along K.
constexpr mma_sync_config large_8_sm75() {
  mma_sync_config result = large_sm75(major::k, major::k);
  result.k = 64;
  return result;
}
constexpr mma_sync_config large_sm70(major a, major b) {
  return {.m = 64,
          .n = 128,
          .k = 32,
          .warp_m = 32,
          .warp_n = 64,
          .stages = 2,
          .min_blocks = 1,
          .a = a,
          .b = b,
          .copy_a = copy_form::vectors,
          .copy_b = copy_form::vectors};
}

// Elements of 16 bits on sm_80, at any addresses. A step along K has lines of 128 bytes, so that the vectors
// that a warp loads at once are in the fewest lines of L1.
constexpr mma_sync_config small_shifted(major a, major b) {
  return {.m = 64,
          .n = 64,
          .k = 64,
          .warp_m = 32,
          .warp_n = 32,
          .stages = 2,
          .min_blocks = 3,
          .a = a,
          .b = b,
          .copy_a = copy_form::shifted,
          .copy_b = copy_form::shifted};
}
// For a K of few such steps: steps half as long.
constexpr mma_sync_config short_shifted(major a, major b) {
  mma_sync_config result = small_shifted(a, b);
  result.k = 32;
  result.min_blocks = a == major::mn && b == major::mn ? 3 : 4;
  return result;
}
// For products that end after few steps: a thread has few pieces to shift.
constexpr mma_sync_config tiny_shifted(major a, major b) {
  return {.m = 32,
          .n = 32,
          .k = 64,
          .warp_m = 16,
          .warp_n = 16,
          .stages = 2,
          .min_blocks = 4,
          .a = a,
          .b = b,
          .copy_a = copy_form::shifted,
          .copy_b = copy_form::shifted};
}

// For a C that is small next to a long K: 8 or 16 blocks of a cluster share a tile; sm_90.
constexpr mma_sync_config split_shifted(major a, major b) {
  mma_sync_config result = tiny_shifted(a, b);
  result.k = 128;
  result.min_blocks = 3;
  result.cluster_splits = 0;
  return result;
}

// Any elements at any addresses; `k`: 64 for elements of 8 bits, otherwise 32.
constexpr mma_sync_config unaligned(major a, major b, std::uint32_t k) {
  return {.m = 64,
          .n = 64,
          .k = k,
          .warp_m = 32,
          .warp_n = 16,
          .stages = 3,
          .min_blocks = 1,
          .a = a,
          .b = b,
          .copy_a = copy_form::elements,
          .copy_b = copy_form::elements};
}

}  // namespace kaio::ops::mma_cuts
