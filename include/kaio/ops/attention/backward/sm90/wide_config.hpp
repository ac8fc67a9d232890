#pragma once
// The tile shape of the backward of attention for sm_90a whose rows are too long for one warpgroup to sum
// both dK and dV of 64 keys (wide_kernel.hpp).

#include <cstdint>

namespace kaio::ops {

struct attention_backward_sm90_wide_config {
  std::uint32_t depth_qk = 256;   // the most elements of a row of Q and K,
  std::uint32_t depth_v = 256;    // of V and dO
  std::uint32_t score_parts = 2;  // in which scores with derivatives are computed

  static constexpr std::uint32_t panel = 64;               // elements of 128 bytes
  static constexpr std::uint32_t keys = 64, queries = 64;  // of a block, of a tile that it walks over
  static constexpr std::uint32_t sums_columns = 128;       // of an accumulator of dK or dV
  static constexpr std::uint32_t dq_columns = 64;          // of dQ that a warpgroup has at a time
  static constexpr std::uint32_t stages = 2;               // of the rings of Q and dO; of dS
  static constexpr std::uint32_t threads = 4 * 128;
  // Of the warpgroups for dV, for dK, for dQ, and of the one that brings operands: 512 in all.
  static constexpr std::uint32_t dv_registers = 208, dk_registers = 208, dq_registers = 64;
  static constexpr std::uint32_t producer_registers = 32;
  static constexpr std::uint32_t releases = 2 * 4;  // the warps that read Q, dO and the numbers of queries
  constexpr bool valid() const {
    return depth_qk % sums_columns == 0 && depth_qk <= 256 && depth_v % sums_columns == 0 && depth_v <= 256;
  }
};

}  // namespace kaio::ops
