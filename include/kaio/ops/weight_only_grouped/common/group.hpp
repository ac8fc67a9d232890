#pragma once
// The group of a block in a grouped product of packed weights. A block finds its tile (matmul_grouped/common)
// and then computes it as matmul_w4 does: its problem is that of the group's rows and weights from the tile's
// first row on.
//
//   weights    group g begins weights_apart * g bytes after group 0
//   out        begins with the tile's first row; m rows are left of the group
//   x          is that of all rows: rows.hpp finds those of a tile
//   bias       row g of (groups, n)

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/matmul_grouped/common/terms.hpp>
#include <kaio/ops/matmul_grouped/common/tiles.hpp>
#include <kaio/ops/shared/element_type.hpp>
#include <kaio/ops/weight_only/common/problem.hpp>

#include <cstdint>

namespace kaio::ops {

// A grouped matmul_w4, without splits of K.
struct w4_grouped_problem {
  grouped_tiles tiles;
  grouped_gather gather;
  grouped_gate gate;  // activation none: none; its biases are not read
  u32 by_warps;       // rows of x do not come by tensor copies
  w4_problem of;      // of all rows and the weights of group 0; m_tiles and n_tiles are not read
  u64 weights_apart;  // bytes from group to group
  i64 bias_apart;     // elements from group to group
};

// The problem of a kernel's parameter, with other numbers in place of some members: these are in registers,
// all others stay in the parameter. A var of the problem would have a register for each of its numbers.
class w4_problem_of_group {
 public:
  // parameter: the number of `all` among the parameters of the kernel.
  constexpr w4_problem_of_group(const val<w4_grouped_problem>& all, u32 parameter)
      : values_{all.context(), parameter},
        offset_(dsl::offset_of<w4_grouped_problem>(&w4_grouped_problem::of)) {}

  template <class T>
  constexpr void replace(T w4_problem::*member, const val<T>& number) {
    put(dsl::offset_of<w4_problem>(member), number);
  }
  template <class T>
  constexpr void replace(T w4_packed::*member, const val<T>& number) {
    put(dsl::offset_of<w4_problem>(&w4_problem::w) + dsl::offset_of<w4_packed>(member), number);
  }
  template <class T>
  constexpr void replace(T divisor::*member, const val<T>& number) {
    put(dsl::offset_of<w4_problem>(&w4_problem::w) + dsl::offset_of<w4_packed>(&w4_packed::group) +
            dsl::offset_of<divisor>(member),
        number);
  }
  constexpr val<w4_problem> problem() const { return dsl::struct_part<w4_problem>(values_, offset_); }

 private:
  template <class T>
  constexpr void put(u32 offset, const val<T>& number) {
    values_.scope = values_.trace->scope();
    values_.entries[values_.count++] = {offset_ + offset, number.node().lower(*values_.trace)};
  }

  dsl::struct_values values_;
  u32 offset_;
};

namespace detail {
// Parts that do not exist stay 0.
constexpr val<u64> moved_part(thread t, const val<u64>& address, const val<u64>& bytes) {
  return t.let(select(address == u64{0}, u64{0}, address + bytes));
}
}  // namespace detail

// The weights of a tile's group. ActOrder: they may have an index of groups; without it the loop has more
// registers.
template <bool ActOrder>
constexpr w4_problem_of_group with_w4_weights(thread t, const val<w4_grouped_problem>& all,
                                              const grouped_tile& tile, u32 parameter = 0) {
  w4_problem_of_group own(all, parameter);
  const auto w = all[&w4_grouped_problem::of][&w4_problem::w];
  const val apart = t.let(cast<u64>(tile.group) * all[&w4_grouped_problem::weights_apart]);
  own.replace(&w4_packed::codes, t.let(w[&w4_packed::codes] + apart));
  own.replace(&w4_packed::scales, t.let(w[&w4_packed::scales] + apart));
  own.replace(&w4_packed::zeros, detail::moved_part(t, t.let(w[&w4_packed::zeros]), apart));
  if constexpr (ActOrder)
    own.replace(&w4_packed::rows, detail::moved_part(t, t.let(w[&w4_packed::rows]), apart));
  else
    own.replace(&w4_packed::rows, t.let(u64{0}));
  return own;
}

// The rows that a tile has left of its group, and the weights of the group.
template <bool ActOrder>
constexpr w4_problem_of_group with_w4_inputs(thread t, const val<w4_grouped_problem>& all,
                                             const grouped_tile& tile) {
  using p = w4_problem;
  w4_problem_of_group own = with_w4_weights<ActOrder>(t, all, tile);
  own.replace(&p::m, t.let(tile.end - tile.row));
  return own;
}

// Adds the factors and the bias of a tile's group.
constexpr void add_w4_columns(thread t, w4_problem_of_group& own, const val<w4_grouped_problem>& all,
                              const grouped_tile& tile) {
  using p = w4_problem;
  const auto of = all[&w4_grouped_problem::of];
  const val apart = t.let(cast<u64>(tile.group) * all[&w4_grouped_problem::weights_apart]);
  const val bias = t.let(cast<u64>(cast<i64>(tile.group) * all[&w4_grouped_problem::bias_apart]) << 1u);
  own.replace(&w4_packed::factors, detail::moved_part(t, t.let(of[&p::w][&w4_packed::factors]), apart));
  own.replace(&p::bias, detail::moved_part(t, t.let(of[&p::bias]), bias));
}

// Adds all that the epilogue of a tile reads; rows count from its first one.
constexpr void add_w4_outputs(thread t, w4_problem_of_group& own, const val<w4_grouped_problem>& all,
                              const grouped_tile& tile) {
  using p = w4_problem;
  const auto of = all[&w4_grouped_problem::of];
  add_w4_columns(t, own, all, tile);
  const val is_f32 = t.let(of[&p::out_type] == static_cast<u32>(element_type::f32));
  const val row = t.let(cast<u64>(cast<i64>(tile.row) * of[&p::out_row]));
  own.replace(&p::out, t.let(of[&p::out] + (row << select(is_f32, 2u, 1u))));
  own.replace(&p::splits, t.let(1u));
}

// Calls multiply(tile) for the block's tile of up to Rows rows, if it exists.
template <std::uint32_t Rows, class Multiply>
constexpr void with_w4_group(thread t, const val<w4_grouped_problem>& all, const Multiply& multiply) {
  const auto tiles = all[&w4_grouped_problem::tiles];
  grouped_walk<Rows, decltype(tiles)> walk(t, tiles);
  const grouped_tile tile = walk.find(t.let(block_idx_x() + 0u));
  if (auto exists = t.when(tile.exists)) multiply(tile);
}

}  // namespace kaio::ops
