#pragma once
// Repacks blocks of GGUF files as the packed weights of matmul_w4 and matmul_w8, once at load.
//
//   const w4_shape shape = w4_shape_of(block_format::q4_k, n, k);
//   buffer<u8> memory = gpu.allocate<u8>(packed_bytes(shape));
//   repack(s, gguf_blocks{block_format::q4_k, bytes}, w4_weights{shape, memory});
//
// The numbers stay the same. The scales of a block and of its parts become one f32 product, which is exact.
// Minima are multiplied out likewise and become the offsets of the packed weights.

#include <kaio/ops/weight_only/call/arguments_w8.hpp>
#include <kaio/ops/weight_only/formats/block_format.hpp>
#include <kaio/ops/weight_only/repack_w4.hpp>
#include <kaio/runtime/stream.hpp>

#include <cstdint>

namespace kaio::ops {

// The operation that multiplies a format after repack. none: dequantise, then matmul.
enum class block_operation : std::uint8_t { none, matmul_w4, matmul_w8 };
block_operation operation_of(block_format format);

// The shapes that repack gives a format's blocks. Throws invalid_argument if operation_of has another
// operation.
//
//   w4    Q4_0, Q4_1, Q4_K, MXFP4, NVFP4
//   w8    Q5_0, Q5_1, Q8_0, Q3_K, Q5_K, Q6_K, IQ4_NL, IQ4_XS
w4_shape w4_shape_of(block_format format, std::int64_t n, std::int64_t k);
w8_shape w8_shape_of(block_format format, std::int64_t n, std::int64_t k);

struct gguf_blocks {
  block_format format{};
  // packed_bytes(format, n * k) bytes, blocks row after row, at a multiple of 2 (MXFP4, NVFP4: anywhere). k
  // is a multiple of the elements of a block.
  tensor_view<const u8, 1> bytes{};
};
// `to` has the shape of w4_shape_of or w8_shape_of. Its memory does not overlap the blocks.
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
