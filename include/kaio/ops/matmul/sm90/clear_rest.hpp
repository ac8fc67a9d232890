#pragma once
// Clears the parts of a ring's tiles that no tensor copy brings, once, before the first tile arrives. Along K
// these are the lines after the first `copied` ones; across K, the columns after them in each panel.

#include <kaio/ops/matmul/sm90/operand.hpp>

#include <cstdint>

namespace kaio::ops {

// All warps of a block call it. Lines: lines of a whole tile.
template <class Operand, major Major, std::uint32_t Lines, std::uint32_t Threads, class Ring>
constexpr void clear_rest(thread t, const Ring& ring, const val<u32>& copied) {
  constexpr std::uint32_t vector = 16 / sizeof(typename Ring::element_type),
                          of_row = sm90_config::row_bytes / 16;
  constexpr std::uint32_t whole = Major == major::k ? Lines : Operand::width;
  const val lane = t.let(lane_id());
  const val warp = warp_rank(t);
  const val zero = t.let(0u);
  const val column = t.let(lane % of_row * vector);
  if (auto has_rest = t.when(copied < whole)) {
    const val first = t.let(lane / of_row + (Major == major::k ? copied : zero));
    const val first_column = Major == major::k ? zero : copied;
    if (auto clears = t.when(column >= first_column))
      for (auto stage : t.range(warp, Ring::count, Threads / 32)) {
        const auto tile = seen_as<Operand>(ring[t.let(stage)]);
        for (auto row : t.range(first, Operand::panel_rows, 32 / of_row).no_unroll())
          for (std::uint32_t p = 0; p < Operand::panels; ++p) {
            const auto cell = tile[row][t.let(column + p * Operand::width)];
            dsl::place_of<ptx::access::inout, u32x4>(cell.location()) = make_vec(zero, zero, zero, zero);
          }
      }
    fence_proxy_async(t);
  }
}

}  // namespace kaio::ops
