#pragma once
// Loads rows of Q, K and V from memory to shared memory, four neighbours of a row per thread. K and V come
// from all tiles of keys that a block's groups of warps work on at once.

#include <kaio/dsl/dsl.hpp>
#include <kaio/dsl/tile.hpp>
#include <kaio/ops/attention/common/block.hpp>
#include <kaio/ops/attention/forward/simt/config.hpp>
#include <kaio/ops/shared/any_element.hpp>

#include <cstdint>
#include <type_traits>

namespace kaio::ops::simt {

// The groups' tiles of keys: the first key, and the end of the keys.
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

// Four numbers of a thread.
using four_floats = dsl::register_array<var<f32>, 4>;
constexpr four_floats zeros(thread t) {
  return array_of<4>([&](u32) { return var(t, 0.0f); });
}

// The rows of a head of Q, K or V in memory, with elements T.
template <class T>
struct tensor_rows {
  in<stored_element<T>> memory;
  val<i64> begin;  // offset of the rows, in elements
  val<i64> pitch;
  val<u32> size, type;
  val<bool> by_16;

  template <class Strides>
  constexpr tensor_rows(thread t, const val<attention_problem>& problem, const in<stored_element<T>>& tensor,
                        const Strides& strides, const attention_block& block, const val<u32>& head,
                        const val<u32>& first_row, const val<u32>& row_size)
      : memory(tensor),
        begin(head_offset(t, strides, block, head, first_row)),
        pitch(t.let(strides[&attention_strides::row])),
        size(row_size),
        type(t.let(problem[&attention_problem::element])),
        by_16(t.let(strides[&attention_strides::by_16] != 0u)) {}

  // f(elements) for the type of the elements.
  template <class F>
  constexpr void with_elements(thread t, const F& f) const {
    with_operands<T>(t, type, [&]<class U>(U) {
      if constexpr (std::is_same_v<stored_element<T>, U>)
        f(memory.from(begin));
      else
        f(in<U>{memory.trace, memory.base, memory.scope, memory.offset}.from(begin));
    });
  }
  // Loads four neighbours of a row before `limit`; missing elements keep their value.
  template <class Elements>
  constexpr void four(thread t, four_floats& x, const Elements& elements, const val<u32>& row,
                      const val<u32>& limit, const val<u32>& column) const {
    const val at = t.let(cast<i64>(row) * pitch + cast<i64>(column));
    if (auto exists = t.when(row < limit))
      for (u32 e = 0; e < 4; ++e)
        if (auto has = t.when(column + e < size)) x[e] = cast<f32>(elements[at + i64{e}]);
  }
  // four() by one load, for rows that begin at multiples of 16 bytes.
  template <class Elements>
  constexpr void whole_four(thread t, four_floats& x, const Elements& elements, const val<u32>& row,
                            const val<u32>& limit, const val<u32>& column) const {
    if (auto exists = t.when(all_of(row < limit, column < size))) {
      const val four = load_vec<4>(elements[cast<i64>(row) * pitch + cast<i64>(column)]);
      for (u32 e = 0; e < 4; ++e) x[e] = cast<f32>(four[e]);
    }
  }
};

// Loads a part of each group's tile: the rows from `first` on that `to` has for a group, and Columns columns.
template <attention_simt_config C, std::uint32_t Columns, class T, class Tile, class First, class Column>
constexpr void load_tiles(thread t, const Tile& to, const tensor_rows<T>& from, const key_tiles<C>& tiles,
                          const val<u32>& groups, const First& first, const Column& first_column) {
  constexpr std::uint32_t of_group = C.threads * 4 / Columns;  // rows: each thread has one four per group
  static_assert(of_group * C.most_groups == Tile::rows);
  const val rank = t.thread_rank();
  const val row = t.let(rank / (Columns / 4)), column = t.let(rank % (Columns / 4) * 4u);
  const val of_tile = t.let(row + first), at_column = t.let(column + first_column);
  const auto put = [&](const val<u32>& group, const auto& x) {
    store_vec(to[group * of_group + row][column], make_vec(x[0], x[1], x[2], x[3]));
  };
  if (auto whole = t.when(from.by_16))
    from.with_elements(t, [&](const auto& elements) {
      for (auto g : t.range(0u, groups, C.least_groups).no_unroll()) {
        auto fours = array_of<C.least_groups>([&](u32) { return zeros(t); });
        for (u32 i = 0; i < C.least_groups; ++i) {
          const val group = t.let(g + i);
          const val row_of_tensor = t.let(tiles.first(t, group) + of_tile);
          from.whole_four(t, fours[i], elements, row_of_tensor, tiles.limit(t, group), at_column);
        }
        for (u32 i = 0; i < C.least_groups; ++i) put(t.let(g + i), fours[i]);
      }
    });
  if (auto single = t.otherwise())
    for (auto g : t.range(0u, groups).no_unroll()) {
      auto x = zeros(t);
      const val row_of_tensor = t.let(tiles.first(t, t.let(g)) + of_tile);
      const val limit = tiles.limit(t, t.let(g));
      from.with_elements(
          t, [&](const auto& elements) { from.four(t, x, elements, row_of_tensor, limit, at_column); });
      put(t.let(g), x);
    }
}

}  // namespace kaio::ops::simt
