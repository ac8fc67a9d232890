#pragma once
// Parameters of the kernel that dequantises separate tensors of codes and scales (bitsandbytes, MXFP4, NVFP4,
// FP8, 8-bit codes). They are numbers, so that one kernel serves all of these.

#include <kaio/ops/shared/divisor.hpp>

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

// Value of (row, column), each operation rounded to f32:
//
//   nothing           number(code) * scale
//   times_memory      number(code) * (scale * factor)       as NVFP4's references do
//   over_memory       number(code) * (scale / factor)       as NVFP4's references do
//   times_constant    number(code) * scale * constant
struct code_problem {
  u64 codes;
  i64 codes_row;  // in codes
  u32 codes_kind;
  u32 columns;
  float table[16];  // values of the nibbles
  u64 scales;
  u32 scales_kind;
  u32 flat_log2;  // not 0: one scale per 2^flat_log2 elements, counted row by row
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
  u32 eights;  // in all; the last one of a row may be shorter
  divisor row_eights;
  u32 whole;  // 1: full eights are loaded and stored at once, and have one scale
};

}  // namespace kaio::ops
