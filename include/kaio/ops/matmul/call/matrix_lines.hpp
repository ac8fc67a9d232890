#pragma once
// A matrix in device memory as tensor copies see it, and the tensor map for them.

#include <kaio/ops/matmul/common/output.hpp>
#include <kaio/runtime/buffer.hpp>
#include <kaio/runtime/stream.hpp>
#include <kaio/runtime/tensor_map.hpp>

#include <cstdint>

namespace kaio::ops {

// A batch of matrices in device memory: lines of neighbours, `pitch` elements apart.
template <class T>
struct matrix_lines {
  device_pointer<T> memory;
  std::uint64_t length = 0;  // elements of a line
  std::uint64_t lines = 0;
  std::uint64_t pitch = 0;  // elements from line to line
  std::uint64_t batches = 1;
  std::uint64_t batch_pitch = 0;  // elements from one matrix to the next

  // Whether elements 4q to 4q + 3 of every line begin at a multiple of their size.
  bool stores_by_four() const {
    return memory.address % (4 * sizeof(T)) == 0 && pitch % 4 == 0 && (batches == 1 || batch_pitch % 4 == 0);
  }

  // The elements as another type of their size.
  template <class U>
  matrix_lines<U> as() const {
    static_assert(sizeof(U) == sizeof(T));
    return {{memory.address, memory.count, memory.device, memory.scattered},
            length,
            lines,
            pitch,
            batches,
            batch_pitch};
  }

  // The least that a miss brings into L2. Lines that begin inside a sector pair share pieces of 256 bytes with
  // others; on an H200 such products gain 2 to 5 % from smaller pieces.
  l2_promotion promotion() const {
    return pitch * sizeof(T) % 64 == 0 ? l2_promotion::bytes_256 : l2_promotion::bytes_128;
  }

  // The tensor map with boxes of `box`, innermost dimension first. `format`: the conversion of f32 elements;
  // no other type has one.
  encoded_tensor_map<T, 3> map(const stream& s, const std::uint32_t (&box)[3], std::uint32_t swizzle,
                               f32_format format = f32_format::f32) const {
    return tiled_tensor_map<3>(s, memory,
                               {.extents = {length, lines, batches},
                                .strides = {pitch, batches == 1 ? pitch : batch_pitch},
                                .box = {box[0], box[1], box[2]},
                                .swizzle = swizzle_of(swizzle),
                                .promotion = promotion(),
                                .format = format});
  }
};

// An output whose element type is given by the launch.
template <class... T>
struct matrix_lines<output_among<T...>> {
  output_memory memory{};
  std::uint64_t length = 0, lines = 0, pitch = 0, batches = 1, batch_pitch = 0;

  bool stores_by_four() const {
    const u64 element = bytes_of(static_cast<output_type>(memory.type));
    return memory.address % (4 * element) == 0 && pitch % 4 == 0 && (batches == 1 || batch_pitch % 4 == 0);
  }
};

}  // namespace kaio::ops
