#pragma once
// What the quantiser of blocks takes: numbers, so that all formats are one kernel.

#include <kaio/ops/matmul/common/tile_walk.hpp>

#include <cstdint>

namespace kaio::ops {

namespace quantised_kind {
enum : u32 { q4_0, q8_0, nf4, fp4, mxfp4, nvfp4 };
}

struct quantise_blocks_problem {
  u64 x;
  i64 x_row;    // in elements
  u32 type;     // an element_type
  u32 x_by_16;  // rows begin at multiples of 16 bytes, and blocks too
  u32 kind;     // quantised_kind
  u32 columns;  // of a row; its last block may have fewer than the others
  u32 size;     // elements of a block
  u32 lanes;    // of a block: 2, 4, 8, 16 or 32
  u32 lanes_log2;
  u32 steps;   // of eight elements for each lane
  u32 blocks;  // in all
  divisor row_blocks;
  u64 codes;      // of q4_0 and q8_0 the blocks
  i64 codes_row;  // in bytes
  u32 codes_by_4;
  u64 scales;
  i64 scales_row;  // in scales
  u64 factor;      // of nvfp4: f32, all scales are divided by it; 0: none
};

// The largest magnitude of a matrix / 2688, in three launches: phase 0 by one thread, 1 by all, 2 by one.
struct tensor_scale_problem {
  u64 x;
  i64 x_row;
  u32 type, x_by_16;
  u32 columns;
  u32 eights;
  divisor row_eights;
  u32 phase;
};

}  // namespace kaio::ops
