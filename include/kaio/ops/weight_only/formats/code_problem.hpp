#pragma once
// What the kernel takes that makes matrices of codes and scales in tensors of their own (bitsandbytes, MXFP4,
// NVFP4, FP8, codes of 8 bits): numbers, so that all of these are one kernel.

#include <kaio/ops/matmul/common/tile_walk.hpp>

#include <cstdint>

namespace kaio::ops {

namespace code_kind {
enum : u32 { nibbles, nibbles_high_first, i8, e4m3, e5m2 };
}
namespace scale_kind {
enum : u32 { f32, f16, bf16, e8m0, e4m3, nested };
}
namespace after_scale {
enum : u32 { nothing, times_memory, over_memory, times_constant };
}

// Value (row, column): number of its code times its scale, then `after`; a factor in memory multiplies or divides
// the scale first, as the references of NVFP4 have it. Each operation is rounded to f32.
struct code_problem {
  u64 codes;
  i64 codes_row;  // in codes
  u32 codes_kind;
  u32 columns;
  float table[16];  // of nibbles
  u64 scales;
  u32 scales_kind;
  u32 flat_log2;  // not 0: a scale for each 2^flat_log2 elements of the matrix, row after row
  i64 scales_row, scales_column;
  divisor group_rows, group_columns;
  u64 nested_map, nested_scales;  // f32[256], f32: map[code] * nested_scales[i >> nested_log2] + offset
  u32 nested_log2;
  float nested_offset;
  u32 after;
  float constant;
  u64 factor;  // f32
  u64 out;
  i64 out_row;
  u32 type;    // an element_type
  u32 eights;  // in all, the last one of a row with fewer elements perhaps
  divisor row_eights;
  u32 whole;  // eights of eight are loaded and stored at once, and have one scale
};

}  // namespace kaio::ops
