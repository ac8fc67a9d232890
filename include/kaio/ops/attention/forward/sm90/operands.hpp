#pragma once
// How kernels for sm_90a get at what they multiply: rows of a head by tensor copies, and what becomes of an
// accumulator, rounded, as operands A in registers.

#include <kaio/dsl/async.hpp>
#include <kaio/dsl/dsl.hpp>
#include <kaio/dsl/mma/wgmma.hpp>
#include <kaio/ops/attention/common/place.hpp>
#include <kaio/ops/attention/forward/sm90/config.hpp>

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

// The same of `size` elements, a multiple of 8, where the tile has more columns: the last ones by `rest`, whose
// boxes are as wide as they are (attention_rest_map), since a box that reaches beyond the rows of its tensor is
// slow. Panels without elements are not copied.
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

// How many elements of each row such copies take, of the steps of a block with rings of `Stages` tiles: in the first
// ones as many as tiles have columns, of which those that do not exist become zero, until every tile has these zeros;
// then those that exist. The copies to a ring may be those of the step before.
template <std::uint32_t Stages>
class copied_columns {
 public:
  constexpr explicit copied_columns(thread t) : t_(t), left_(t, u32{Stages + 1}) {}
  // Of rows of `size` elements, into tiles of so many columns.
  template <std::uint32_t Columns>
  constexpr val<u32> of(const val<u32>& size) const {
    return t_.let(select(left_ != 0u, Columns, size));
  }
  constexpr void advance() { left_ = max(left_, 1u) - 1u; }
  constexpr val<bool> has_advanced() const { return t_.let(left_ <= Stages); }

 private:
  thread t_;
  var<u32> left_;  // steps that copy all columns
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
