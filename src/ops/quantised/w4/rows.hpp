#pragma once
// The rows of the kernels of matmul_w4 in the table, for one element type.

#include <kaio/ops/quantised/w4/kernel.hpp>

#include <array>
#include <cstdint>
#include <span>

#include "ops/quantised/w4/variant.hpp"

namespace kaio::ops {

template <std::uint32_t Rows, scalar T>
w4_variant matmul_w4_row() {
  constexpr w4_config config = w4_rows(Rows);
  return {
      .image = &matmul_w4_mma<config, T>.image(),
      .run = [](const stream& s, const w4_problem& problem,
                std::uint64_t blocks) { matmul_w4_mma<w4_rows(Rows), T>.launch(s, grid(blocks), problem); },
      .type = std::is_same_v<T, f16> ? element_type::f16 : element_type::bf16,
      .rows = config.rows,
      .columns = config.columns(),
      .warps_k = config.warps_k(),
      .resident = config.min_blocks};
}

template <scalar T>
std::span<const w4_variant> matmul_w4_rows() {
  static const auto& rows = *new std::array{matmul_w4_row<8, T>(), matmul_w4_row<16, T>(),
                                            matmul_w4_row<32, T>(), matmul_w4_row<64, T>()};
  return rows;
}

}  // namespace kaio::ops
