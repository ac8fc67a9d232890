#pragma once
// Stores a warp's rows of O from a tile in shared memory to the tensor: by 16 bytes if rows begin at
// multiples of 16 bytes, else element by element.

#include <kaio/dsl/dsl.hpp>
#include <kaio/dsl/tile.hpp>
#include <kaio/ops/attention/common/place.hpp>

#include <cstdint>

namespace kaio::ops {

// Stores Rows x Columns of a tile, from its row `of_warp` on, to the existing rows of memory from `first` on.
template <scalar T, std::uint32_t Rows, std::uint32_t Columns, class Tile>
constexpr void store_rows(thread t, const Tile& tile, const val<u32>& of_warp, const out<T>& memory,
                          const val<i64>& pitch, const val<u32>& size, const val<u32>& by_16,
                          const val<u32>& first, const val<u32>& limit) {
  constexpr std::uint32_t piece = 16 / sizeof(T), pieces = Columns / piece;
  for (auto i : t.range(t.lane_rank(), Rows * pieces, 32u)) {
    const val row = t.let(i / pieces), column = t.let(i % pieces * piece);
    if (auto exists = t.when(all_of(first + row < limit, column < size))) {
      const val at = t.let(cast<i64>(first + row) * pitch + cast<i64>(column));
      const val x = load_vec<piece>(tile[of_warp + row][column]);
      if (auto whole = t.when(by_16 != 0u)) store_vec(memory[at], x);
      if (auto single = t.otherwise())
        for (auto e : t.range(0u, t.let(min(size - column, piece))).no_unroll())
          memory[at + cast<i64>(e)] = tile[of_warp + row][column + e];
    }
  }
}

}  // namespace kaio::ops
