#pragma once
// The transpose of a matrix: y[c][r] = x[r][c]. Read by rows, it must be written by columns, or the other way round. So
// a block of 32 x 8 threads turns a tile of 32 x 32 in shared memory, and both sides move whole rows:
//
//   x, rows of a tile  ->  tile[row][column]  ->  columns of the tile, which are rows of y
//
// The 32 elements of a column would be in one bank of shared memory and come one after the other. A row of the tile has
// one element more (padded<1>), so they are in 32 banks. The compiler computes it: see the facts below.

#include <kaio/dsl/dsl.hpp>

namespace kaio::showcase {

inline constexpr u32 transpose_tile = 32;  // launch with grid(columns / 32, rows / 32), rounded up

template <class Layout>
inline constexpr auto turn = [](thread t, in<f32> x, out<f32> y, val<u32> rows, val<u32> columns) {
  shared_tile<f32, transpose_tile, transpose_tile, Layout> tile(t);
  val left = block_idx_x() * transpose_tile;
  val top = block_idx_y() * transpose_tile;
  val lane = t.let(thread_idx_x()), first = t.let(thread_idx_y());

  if (auto in_x = t.when(left + lane < columns))
    for (u32 k = 0; k < transpose_tile; k += 8)
      if (auto in_rows = t.when(top + first + k < rows))
        tile[first + k][lane] = x[index(top + first + k, columns, left + lane)];
  t.barrier();
  if (auto in_y = t.when(top + lane < rows))
    for (u32 k = 0; k < transpose_tile; k += 8)
      if (auto in_columns = t.when(left + first + k < columns))
        y[index(left + first + k, rows, top + lane)] = tile[lane][first + k];
};

inline constexpr auto transpose = kernel<"transpose_padded", block_size{32, 8}>(turn<padded<1>>);
static_assert(transpose.bank_conflicts() == 0 && transpose.coalesced());
// Without the padding, each of the four reads of a column takes 31 more turns:
static_assert(kernel<"transpose_unpadded", block_size{32, 8}>(turn<row_major>).bank_conflicts() == 4 * 31);

}  // namespace kaio::showcase
