#pragma once
// The matmul kernels with matrix instructions of a warp that are tested: every layout, type, way of copying
// and kind of operand, in tile shapes small enough for the emulator.

#include <kaio/ops/matmul/common/split_reduce.hpp>
#include <kaio/ops/matmul/mma_sync/cuts.hpp>
#include <kaio/ops/matmul/mma_sync/kernel.hpp>

#include <cstdint>

namespace kaio::tests {

using dsl::major;
using ops::copy_form;
using ops::mma_sync_config;

// 2 x 2 warps of 32 x 32.
constexpr mma_sync_config small_cut(major a, major b, copy_form copy_a = copy_form::async,
                                    copy_form copy_b = copy_form::async, u32 k = 32, bool pointers = false) {
  return {.m = 64,
          .n = 64,
          .k = k,
          .warp_m = 32,
          .warp_n = 32,
          .stages = 3,
          .a = a,
          .b = b,
          .copy_a = copy_a,
          .copy_b = copy_b,
          .pointers = pointers};
}

using f16_product = ops::instruction_product<mma_m16n8k16<f32, f16>>;
using bf16_product = ops::instruction_product<mma_m16n8k16<f32, bf16>>;
using f16_product_sm75 = ops::instruction_product<mma_m16n8k8<f32, f16>>;
using e4m3_product = ops::instruction_product<mma_m16n8k32<f32, e4m3>>;
using mixed_f8_product = ops::instruction_product<mma_m16n8k32<f32, e5m2, e4m3>>;
template <major A, major B>
using f16_product_sm70 = ops::quad_product<A == major::k ? matrix_order::row : matrix_order::col,
                                           B == major::k ? matrix_order::col : matrix_order::row>;

// x + the row's bias, then twice that of a row above 3.
struct bias_of_row {
  static constexpr fixed_string name = "bias_of_row";
  constexpr val<f32> operator()(thread t, val<f32> x, ops::place at, in<f32> bias, val<f32> factor) const {
    val biased = t.let(x + bias[at.row] + cast<f32>(at.batch));
    return t.let(select(at.row > 3u, biased * factor, biased) + cast<f32>(at.column));
  }
};

// A column of B out of integers of 8 bits and a scale for each column: one element at a time.
struct from_bytes {
  static constexpr fixed_string name = "bytes";
  constexpr val<f16> operator()(thread t, val<u32> batch, val<u32> line, val<u32> k, in<i8> weights,
                                in<f32> scales, val<u32> pitch) const {
    val weight = t.let(weights[(batch * 0 + line) * pitch + k]);
    return t.let(cast<f16>(cast<f32>(weight) * scales[line]));
  }
};

// Eight elements out of the eight integers of 4 bits of a word; the scale is that of the column.
struct from_nibbles {
  static constexpr fixed_string name = "nibbles";
  constexpr dsl::register_array<val<f16>, 8> operator()(thread t, val<u32>, val<u32> line, val<u32> k,
                                                        in<u32> weights, in<f32> scales,
                                                        val<u32> pitch) const {
    val word = t.let(weights[line * pitch + k / 8]);
    val scale = t.let(scales[line]);
    return array_of<8>([&](u32 i) {
      val nibble = t.let(bit_cast<i32>(word << (28 - 4 * i)) >> 28);
      return t.let(cast<f16>(cast<f32>(nibble) * scale));
    });
  }
};

// A product whose B the function makes.
template <class F>
inline constexpr auto& dequantising_matmul =
    ops::mma_sync_matmul<small_cut(major::k, major::k), f16_product, f32, ops::identity, ops::in_memory<f16>,
                         ops::made_by<F>>;

}  // namespace kaio::tests
