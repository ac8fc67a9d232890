#pragma once
// Blocks of GGUF files as the packed weights of matmul_w4 and matmul_w8, once at load.
//
//   const w4_shape shape = w4_shape_of(block_format::q4_k, n, k);
//   buffer<u8> memory = gpu.allocate<u8>(packed_bytes(shape));
//   repack(s, gguf_blocks{block_format::q4_k, bytes}, w4_weights{shape, memory});
//
// The packed weights are the same numbers: scales of blocks and of their parts are multiplied out, which is
// exact in f32, and so are minima, which are the offsets of the packed weights.

#include <kaio/ops/weight_only/formats/block_format.hpp>
#include <kaio/ops/weight_only/repack_w4.hpp>
#include <kaio/ops/weight_only/call/arguments_w8.hpp>
#include <kaio/runtime/stream.hpp>

#include <cstdint>

namespace kaio::ops {

// The operation that multiplies a format after repack; none: matmul after dequantise.
enum class block_operation : std::uint8_t { none, matmul_w4, matmul_w8 };
block_operation operation_of(block_format format);

// What repack packs a format's blocks as: Q4_0, Q4_1, Q4_K, MXFP4 and NVFP4 in four bits; Q5_0, Q5_1, Q8_0,
// Q3_K, Q5_K, Q6_K, IQ4_NL and IQ4_XS in eight. Throws invalid_argument where operation_of has another
// operation.
w4_shape w4_shape_of(block_format format, std::int64_t n, std::int64_t k);
w8_shape w8_shape_of(block_format format, std::int64_t n, std::int64_t k);

struct gguf_blocks {
  block_format format{};
  // packed_bytes(format, n * k) in the order of rows, at a multiple of 2 but for MXFP4 and NVFP4. k is a
  // multiple of the block's elements.
  tensor_view<const u8, 1> bytes{};
};
// The shape of `to` is that of w4_shape_of or w8_shape_of. The memory of `to` shares nothing with the blocks.
void repack(const stream& s, const gguf_blocks& source, const w4_weights& to);
void repack(const stream& s, const gguf_blocks& source, const w8_weights& to);

}  // namespace kaio::ops

namespace kaio {
using ops::block_operation;
using ops::gguf_blocks;
using ops::operation_of;
using ops::repack;
using ops::w4_shape_of;
using ops::w8_shape_of;
}  // namespace kaio
