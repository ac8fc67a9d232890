#pragma once
// Rows of Q, K and V from memory, four neighbours of a row by each thread, into shared memory: those of the
// tiles of keys that the groups of warps of a block work on at the same time.

#include <kaio/dsl/dsl.hpp>
#include <kaio/dsl/tile.hpp>
#include <kaio/ops/attention/common/block.hpp>
#include <kaio/ops/attention/simt/config.hpp>

#include <cstdint>

namespace kaio::ops::simt {

using dsl::scalar;

// The tiles of keys that the groups work on: the first key, and from where on there are none.
template <attention_simt_config C>
class key_tiles {
 public:
  constexpr explicit key_tiles(thread t) : first_(t), limit_(t) {}
  constexpr void put(thread t, const val<u32>& group, const val<bool>& works, const val<u32>& first,
                     const val<u32>& limit) const {
    first_[group] = t.let(select(works, first, 0u));
    limit_[group] = t.let(select(works, limit, 0u));
  }
  constexpr val<u32> first(thread t, const val<u32>& group) const { return t.let(first_[group]); }
  constexpr val<u32> limit(thread t, const val<u32>& group) const { return t.let(limit_[group]); }

 private:
  shared<u32, C.warps> first_, limit_;
};

// The rows of a head of Q, K or V in memory.
template <scalar T>
struct tensor_rows {
  in<T> memory;
  val<i64> pitch;
  val<u32> size;
  val<bool> by_16;

  template <class Strides>
  constexpr tensor_rows(thread t, const in<T>& tensor, const Strides& strides, const attention_block& block,
                        const val<u32>& head, const val<u32>& first_row, const val<u32>& row_size)
      : memory(tensor.from(head_offset(t, strides, block, head, first_row))),
        pitch(t.let(strides[&attention_strides::row])),
        size(row_size),
        by_16(t.let(strides[&attention_strides::by_16] != 0u)) {}

  // Four neighbours of a row before `limit`; what does not exist is zero.
  constexpr dsl::register_array<var<f32>, 4> four(thread t, const val<u32>& row, const val<u32>& limit,
                                                  const val<u32>& column) const {
    auto x = array_of<4>([&](u32) { return var(t, 0.0f); });
    const val at = t.let(cast<i64>(row) * pitch + cast<i64>(column));
    if (auto exists = t.when(row < limit))
      for (u32 e = 0; e < 4; ++e)
        if (auto has = t.when(column + e < size)) x[e] = cast<f32>(memory[at + i64{e}]);
    return x;
  }
  // The same of rows that begin at multiples of 16 bytes.
  constexpr dsl::register_array<var<f32>, 4> whole_four(thread t, const val<u32>& row, const val<u32>& limit,
                                                        const val<u32>& column) const {
    auto x = array_of<4>([&](u32) { return var(t, 0.0f); });
    if (auto exists = t.when(all_of(row < limit, column < size))) {
      const val four = load_vec<4>(memory[cast<i64>(row) * pitch + cast<i64>(column)]);
      for (u32 e = 0; e < 4; ++e) x[e] = cast<f32>(four[e]);
    }
    return x;
  }
};

// Of the tile of each group, the rows from `first` on that `to` has for a group, and Columns columns.
template <attention_simt_config C, std::uint32_t Columns, scalar T, class Tile, class First, class Column>
constexpr void load_tiles(thread t, const Tile& to, const tensor_rows<T>& from, const key_tiles<C>& tiles,
                          const val<u32>& groups, const First& first, const Column& first_column) {
  constexpr std::uint32_t of_group = C.threads * 4 / Columns;  // rows: each thread has a four of each group
  static_assert(of_group * C.most_groups == Tile::rows);
  const val rank = t.thread_rank();
  const val row = t.let(rank / (Columns / 4)), column = t.let(rank % (Columns / 4) * 4u);
  const val of_tile = t.let(row + first), at_column = t.let(column + first_column);
  const auto put = [&](const val<u32>& group, const auto& x) {
    store_vec(to[group * of_group + row][column], make_vec(x[0], x[1], x[2], x[3]));
  };
  if (auto whole = t.when(from.by_16))
    for (auto g : t.range(0u, groups, C.least_groups).no_unroll()) {
      const auto fours = array_of<C.least_groups>([&](u32 i) {
        const val group = t.let(g + i);
        return from.whole_four(t, t.let(tiles.first(t, group) + of_tile), tiles.limit(t, group), at_column);
      });
      for (u32 i = 0; i < C.least_groups; ++i) put(t.let(g + i), fours[i]);
    }
  if (auto single = t.otherwise())
    for (auto g : t.range(0u, groups).no_unroll())
      put(t.let(g),
          from.four(t, t.let(tiles.first(t, t.let(g)) + of_tile), tiles.limit(t, t.let(g)), at_column));
}

}  // namespace kaio::ops::simt
