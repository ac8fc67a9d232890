#pragma once
// Operands of the kernels for sm_90a: rows of a head by tensor copies, and rounded accumulators as operands A
// in registers.

#include <kaio/dsl/async.hpp>
#include <kaio/dsl/dsl.hpp>
#include <kaio/dsl/mma/wgmma.hpp>
#include <kaio/ops/attention/common/place.hpp>
#include <kaio/ops/attention/forward/sm90/config.hpp>

#include <array>
#include <cstdint>
#include <utility>

namespace kaio::ops {

// Loads rows `row` on of a head into a tile. A box has 64 elements x all rows of the tile: one panel.
template <scalar T, class Tile>
constexpr void load_rows(const Tile& to, const tensor_map<T, 4>& map, const val<u32>& row,
                         const val<u32>& head, const val<u32>& batch, const mbarrier& arrived) {
  constexpr std::uint32_t panel = attention_sm90_config::panel;
  for (std::uint32_t p = 0; p < Tile::columns / panel; ++p)
    copy_tensor(to.panel(p), map, coordinates(p * panel, row, head, batch), arrived);
}

// Loads rows of `size` elements, a multiple of 8, into a tile with more columns. `rest` copies the last
// elements in a box of their width (attention_rest_map), since a box that reaches beyond the rows of its
// tensor is slow. Panels without elements are not copied.
template <scalar T, class Tile>
constexpr void load_rows(thread t, const Tile& to, const tensor_map<T, 4>& map, const tensor_map<T, 4>& rest,
                         const val<u32>& size, const val<u32>& row, const val<u32>& head,
                         const val<u32>& batch, const mbarrier& arrived) {
  constexpr std::uint32_t panel = attention_sm90_config::panel;
  for (std::uint32_t p = 0; p < Tile::columns / panel; ++p) {
    const auto copy = [&](const tensor_map<T, 4>& from) {
      copy_tensor(to.panel(p), from, coordinates(p * panel, row, head, batch), arrived);
    };
    if (auto whole = t.when(size >= (p + 1) * panel)) copy(map);
    if (auto part = t.otherwise()) {
      if (p == 0) copy(rest);
      if (p != 0)
        if (auto some = t.when(size > p * panel)) copy(rest);
    }
  }
}

// Number of columns that such copies take in each step of a block with rings of `Stages` tiles. The first
// Stages + 1 steps copy all columns of a tile, so that columns beyond the rows become zero in every stage;
// the copies to a ring may lag by one step. Later steps copy existing columns only.
template <std::uint32_t Stages>
class copied_columns {
 public:
  constexpr explicit copied_columns(thread t) : t_(t), left_(t, u32{Stages + 1}) {}
  // Columns to copy for rows of `size` elements, into tiles of `Columns` columns.
  template <std::uint32_t Columns>
  constexpr val<u32> of(const val<u32>& size) const {
    return t_.let(select(left_ != 0u, Columns, size));
  }
  constexpr void advance() { left_ = max(left_, 1u) - 1u; }
  constexpr val<bool> has_advanced() const { return t_.let(left_ <= Stages); }

 private:
  thread t_;
  var<u32> left_;  // remaining steps that copy all columns
};

// Count operands of 64 x 16; pair(j) is pair j of an accumulator of 64 x 16 * Count.
template <scalar T, std::uint32_t Count, class Pair>
constexpr std::array<wgmma_register_operand<T>, Count> wgmma_register_operands(const Pair& pair) {
  return [&]<std::uint32_t... I>(std::integer_sequence<std::uint32_t, I...>) {
    return std::array<wgmma_register_operand<T>, Count>{
        {{pair(4 * I), pair(4 * I + 1), pair(4 * I + 2), pair(4 * I + 3)}...}};
  }(std::make_integer_sequence<std::uint32_t, Count>{});
}

}  // namespace kaio::ops
