#pragma once
// How kernels for sm_90a get at what they multiply: rows of a head by tensor copies, and what becomes of an
// accumulator, rounded, as operands A in registers.

#include <kaio/dsl/async.hpp>
#include <kaio/dsl/mma/wgmma.hpp>
#include <kaio/ops/attention/common/place.hpp>
#include <kaio/ops/attention/sm90/config.hpp>

#include <array>
#include <cstdint>
#include <utility>

namespace kaio::ops {

// Rows `row` on of a head into a tile, in boxes of 64 elements x all of its rows, a panel of the tile each.
template <scalar T, class Tile>
constexpr void load_rows(const Tile& to, const tensor_map<T, 4>& map, const val<u32>& row,
                         const val<u32>& head, const val<u32>& batch, const mbarrier& arrived) {
  constexpr std::uint32_t panel = attention_sm90_config::panel;
  for (std::uint32_t p = 0; p < Tile::columns / panel; ++p)
    copy_tensor(to.panel(p), map, coordinates(p * panel, row, head, batch), arrived);
}

// Count operands of 64 x 16; pair(j) is pair j of an accumulator of 64 x 16 * Count.
template <scalar T, std::uint32_t Count, class Pair>
constexpr std::array<wgmma_register_operand<T>, Count> wgmma_register_operands(const Pair& pair) {
  return [&]<std::uint32_t... I>(std::integer_sequence<std::uint32_t, I...>) {
    return std::array<wgmma_register_operand<T>, Count>{
        {{pair(4 * I), pair(4 * I + 1), pair(4 * I + 2), pair(4 * I + 3)}...}};
  }(std::make_integer_sequence<std::uint32_t, Count>{});
}

}  // namespace kaio::ops
