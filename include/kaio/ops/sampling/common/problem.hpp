#pragma once
// Parameters of the kernel of sample.

#include <kaio/dsl/number/scalar.hpp>

namespace kaio::ops {

inline constexpr u32 sample_threads = 1024;
inline constexpr u32 sample_warps = sample_threads / 32;
inline constexpr u32 sample_blocks = 8;  // of a row, at most: a power of two

// A number for each row, `stride` elements apart. Address 0: there is none, or `value` serves all rows.
struct row_numbers {
  u64 address;
  i64 stride;
  u32 value;  // bits of an f32 or an i32
};

struct sample_problem {
  u64 logits;
  i64 stride;  // from row to row, in elements
  u32 type;    // an element_type
  u32 vocabulary;
  u32 of_warp;  // elements of a warp's part of a row, a multiple of 256
  u32 wide;     // tokens are i64, else i32
  u64 invalid;  // i32, or 0: counts rows with NaN or without any logit above -inf
  row_numbers tokens;
  row_numbers seed, offset, offset_out;  // 64 bits
  row_numbers temperature, top_k, top_p, min_p;
  row_numbers logprobs, lse;  // f32
};

// Elements of a warp's part of a row that `blocks` blocks share. A row may begin up to 7 elements after a
// multiple of 16 bytes.
constexpr u32 sample_elements_of_warp(u32 vocabulary, u32 blocks) {
  const u64 warps = u64{blocks} * sample_warps, of_warp = (u64{vocabulary} + 7 + warps - 1) / warps;
  return static_cast<u32>((of_warp + 255) / 256 * 256);
}

}  // namespace kaio::ops
