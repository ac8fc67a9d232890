#pragma once
// Parameters of the kernels of rms_norm and layer_norm.

#include <kaio/ops/rows/division.hpp>

namespace kaio::ops {

struct norm_problem {
  rows_problem rows;
  row_strides x, out;                  // out, address 0: only codes are stored
  row_strides residual, residual_out;  // address 0: there is none
  u64 weight, bias;                    // 0: there is none
  f32 epsilon, weight_offset;
  u32 is_centred;  // layer_norm: the row's mean is subtracted
  u32 casts;       // the normalised number is rounded to x's type before the weight
};

inline constexpr u32 norm_code_block = 128;  // elements of a row that share a scale, as products take them

// What the general kernel adds. Each may be absent: address 0.
struct general_norm_problem {
  norm_problem norm;
  u32 is_weight_f32;         // weight and bias are f32, whatever x is
  row_strides gate;          // h = x * gate + residual
  row_strides scale, shift;  // y = (norm * weight + bias) * (1 + scale) + shift
  row_strides codes;         // 8 bits; if pieces are vectors, their rows begin at multiples of half a piece
  row_strides scales;  // f32, of each row or of each block of a row; if absent, `code_scale` serves all rows
  i64 scale_step;      // from a block's scale to the next one's, in elements
  u32 has_block_scales;
  u32 kept;  // a kept_type: e4m3 or i8
  f32 code_scale;
};

}  // namespace kaio::ops
