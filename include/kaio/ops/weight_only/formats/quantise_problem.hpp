#pragma once
// Parameters of the block quantiser. They are numbers, so that one kernel serves all formats.

#include <kaio/ops/shared/divisor.hpp>

#include <cstdint>

namespace kaio::ops {

namespace quantised_kind {
enum : u32 { q4_0, q8_0, nf4, fp4, mxfp4, nvfp4 };
}

struct quantise_blocks_problem {
  u64 x;
  i64 x_row;    // in elements
  u32 type;     // an element_type
  u32 x_by_16;  // 1: rows and blocks begin at multiples of 16 bytes
  u32 kind;     // quantised_kind
  u32 columns;  // per row; the last block of a row may be shorter
  u32 size;     // elements per block
  u32 lanes;    // per block: 2, 4, 8, 16 or 32
  u32 lanes_log2;
  u32 steps;   // per lane, of eight elements each
  u32 blocks;  // in all
  divisor row_blocks;
  u64 codes;      // q4_0, q8_0: the blocks
  i64 codes_row;  // in bytes
  u32 codes_by_4;
  u64 scales;
  i64 scales_row;  // in scales
  u64 factor;      // nvfp4: f32 that divides all scales; 0: none
};

// max |x| / 2688 in three launches: phase 0 (one thread) clears, phase 1 (all) takes the maximum, phase 2
// (one) divides.
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
