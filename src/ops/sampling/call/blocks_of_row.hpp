#pragma once
// How many blocks share a row of sample and top_k.

#include <kaio/ops/sampling/common/problem.hpp>
#include <kaio/runtime/properties.hpp>

namespace kaio::ops {

// A power of two: the most blocks for which all rows run at once, each block with 4096 elements or more.
inline u32 blocks_of_row(const device_properties& device, u32 rows, u32 size) {
  constexpr u32 least_elements = 4096;
  u32 blocks = 1;
  while (blocks < sample_blocks && u64{rows} * blocks * 2 <= device.multiprocessors &&
         u64{least_elements} * blocks * 2 <= size)
    blocks *= 2;
  return blocks;
}

}  // namespace kaio::ops
