#pragma once
// The tile shape of the backward of attention for sm_90a with long rows (wide_kernel.hpp). One warpgroup has
// too few registers for the sums of both dK and dV of 64 keys.

#include <kaio/ptx/standard.hpp>

#include <cstdint>

namespace kaio::ops {

struct attention_backward_sm90_wide_config {
  std::uint32_t depth_qk = 256;   // longest row of Q and K, in elements
  std::uint32_t depth_v = 256;    // longest row of V and dO
  std::uint32_t score_parts = 2;  // parts in which scores with derivatives are computed
  bool divides_queries = true;    // several blocks may share a tile of keys (parts.hpp)

  static constexpr std::uint32_t panel = 64;               // elements in 128 bytes
  static constexpr std::uint32_t keys = 64, queries = 64;  // per block; per tile of the walk
  static constexpr std::uint32_t sums_columns = 128;       // per accumulator of dK or dV
  static constexpr std::uint32_t dq_columns = 64;          // of dQ that a warpgroup holds at a time
  static constexpr std::uint32_t stages = 2;               // per ring: Q, dO and dS
  static constexpr std::uint32_t threads = 4 * 128;
  // Registers per thread of the warpgroups for dV, dK and dQ, and of the producer warps: 512 in all.
  static constexpr std::uint32_t dv_registers = 208, dk_registers = 208, dq_registers = 64;
  static constexpr std::uint32_t producer_registers = 32;
  static constexpr std::uint32_t releases = 2 * 4;  // the warps that read Q, dO and the numbers of queries
  constexpr std::uint32_t columns_qk() const { return depth_qk; }
  constexpr bool valid() const {
    return depth_qk % sums_columns == 0 && depth_qk <= 256 && depth_v % sums_columns == 0 && depth_v <= 256;
  }
};

}  // namespace kaio::ops
