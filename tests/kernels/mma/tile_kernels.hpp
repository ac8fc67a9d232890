#pragma once
// The kernels that test tiles: every way to name an element, in every layout.

#include <kaio/dsl/dsl.hpp>

#include <cstdint>
#include <type_traits>

namespace kaio::tests {

// The layout in the name of a kernel.
template <class Layout>
inline constexpr auto layout_name = dsl::fixed_string("row_major");
template <>
inline constexpr auto layout_name<column_major> = dsl::fixed_string("column_major");
template <u32 Elements>
inline constexpr auto layout_name<padded<Elements>> = "padded_" + decimal<Elements>;
template <u32 Bytes>
inline constexpr auto layout_name<swizzled<Bytes>> = "swizzled_" + decimal<Bytes>;

template <class T, u32 Rows, u32 Columns, class Layout>
inline constexpr auto tile_name =
    type_name<T> + "_" + decimal<Rows> + "_" + decimal<Columns> + "_" + layout_name<Layout>;

inline constexpr u32 tile_threads = 64;

// Offsets of elements from the beginning of the tile: the row and column of the device; the row of the device
// with a constant added; a constant row; a constant column; both constant. Then the tile itself is written
// through its cells, and read back as plain memory.
template <class T, u32 Rows, u32 Columns, class Layout>
inline constexpr auto tile_places =
    kernel<"tile_places_" + tile_name<T, Rows, Columns, Layout>, tile_threads>(
        [](thread t, in<T> x, out<u32> offsets, out<T> plain, out<T> back) {
          using tile_type = shared_tile<T, Rows, Columns, Layout>;
          constexpr u32 n = Rows * Columns;
          constexpr u32 cells = tile_type::bytes / sizeof(T);
          shared<u32, 33> before(t);  // so that the tile does not begin at 0
          before[t.thread_rank() % 33] = 0;
          tile_type tile(t);
          val first = tile.address();
          const auto memory = shared_tile<T, 1, cells, row_major>::over(tile);
          for (auto i : t.range(t.thread_rank(), cells, tile_threads)) memory[0][i] = x[n];
          t.barrier();
          for (auto i : t.range(t.thread_rank(), n, tile_threads)) {
            val row = i / Columns, column = i % Columns;
            offsets[i] = tile.row_address(row, column) - first;
            offsets[n + i] = tile.row_address((row + 5) % Rows, column) - tile.address();
            if (auto fits = t.when(row + 8 < Rows))
              offsets[2 * n + i] = tile.row_address(row + 8, column) - first;
            if (auto fits = t.when(row + 3 < Rows))
              offsets[3 * n + i] = tile.row_address(cast<i32>(row) + 3, cast<i32>(column)) - first;
            offsets[4 * n + i] = tile.row_address(Rows - 1, column) - first;
            offsets[5 * n + i] = tile.row_address(row, Columns - 1) - first;
            tile[row][column] = x[i];
          }
          offsets[6 * n] = tile.row_address(Rows / 2, Columns / 2) - first;
          t.barrier();
          for (auto i : t.range(t.thread_rank(), cells, tile_threads)) plain[i] = memory[0][i];
          for (auto i : t.range(t.thread_rank(), n, tile_threads)) back[i] = tile[i / Columns][i % Columns];
        });

// Rows in pieces of 16 bytes, and element by element from there.
template <class T, u32 Rows, u32 Columns, class Layout>
inline constexpr auto tile_pieces =
    kernel<"tile_pieces_" + tile_name<T, Rows, Columns, Layout>, tile_threads>(
        [](thread t, in<T> x, out<T> y, out<T> z) {
          constexpr u32 piece = 16 / sizeof(T);
          constexpr u32 row_pieces = Columns / piece;
          shared_tile<T, Rows, Columns, Layout> tile(t);
          for (auto i : t.range(t.thread_rank(), Rows * row_pieces, tile_threads))
            store_vec(tile[i / row_pieces][i % row_pieces * piece], load_vec<piece>(x[i * piece]));
          t.barrier();
          for (auto i : t.range(t.thread_rank(), Rows * Columns, tile_threads))
            y[i] = tile[i / Columns][i % Columns];
          for (auto i : t.range(t.thread_rank(), Rows, tile_threads))
            for (u32 c = 0; c < Columns; c += piece)
              store_vec(z[i * Columns + c], load_vec<piece>(tile[i][c]));
        });

// A ring: the stage is a number of the host, of the device, and a variable that changes; a lane computed once
// advances through rows, columns and panels, in each tile.
template <class T, u32 Rows, u32 Columns, class Layout, u32 Count>
inline constexpr auto tile_ring =
    kernel<"tile_ring_" + decimal<Count> + "_" + tile_name<T, Rows, Columns, Layout>, 32>(
        [](thread t, out<u32> offsets, out<T> y) {
          using ring_type = shared_tiles<T, Rows, Columns, Layout, Count>;
          constexpr u32 span = 16 / sizeof(T);
          constexpr u32 steps = Columns / span;
          ring_type ring(t);
          val rank = t.thread_rank();
          val begin = ring[0].address();
          const auto lane = ring.lane(rank % 8, rank * 0, span);
          const auto second = ring.lane(rank % 8 + 8, rank % span, span);
          var stage(t, 0u);
          for (auto l : t.loop()) {
            l.break_if(stage == Count);
            const auto tile = ring[stage];
            for (u32 k = 0; k < steps; ++k) {
              offsets[((stage * steps + k) * 2) * 32 + rank] =
                  shared_address(tile.at(lane, 0, k * span)) - begin;
              offsets[((stage * steps + k) * 2 + 1) * 32 + rank] =
                  shared_address(tile.at(second, Rows - 16, k * span)) - begin;
            }
            if (auto once = t.when(rank < 8)) tile.at(lane, 8, span) = cast<T>(stage + 1);
            stage += 1;
          }
          sync_warp(t);
          for (u32 s = 0; s < Count; ++s) y[s * 32 + rank] = ring[s][rank % 8 + 8][span];
        });

// Parts of a tile: blocks of rows, panels, and other tiles over its memory.
inline constexpr auto tile_parts = kernel<"tile_parts", 32>([](thread t, out<u32> offsets, out<f16> y) {
  shared_tile<f16, 32, 128, swizzled<128>> tile(t);
  val rank = t.thread_rank();
  val begin = tile.address();
  val half = rank / 16;
  const auto right = tile.panel(1);
  const auto either = tile.panel(half);
  const auto lower = row_block<16>(right, 16);
  const auto one = row_block<16>(either, half * 16u);
  offsets[rank] = right.row_address(rank, 7) - begin;
  offsets[32 + rank] = either.row_address(rank, rank) - begin;
  offsets[64 + rank] = lower.row_address(rank % 16, 9) - begin;
  offsets[96 + rank] = one.row_address(rank % 16, rank) - begin;
  const auto numbers = shared_tile<f32, 16, 32, swizzled<128>>::over(tile, 2048);
  offsets[128 + rank] = numbers.row_address(rank % 16, rank) - begin;
  shared_tile<f16, 32, 256, swizzled<128>> wide(t);
  const auto columns = column_block<128>(wide, half);
  offsets[160 + rank] = columns.row_address(rank, 64 + rank) - wide.address();
  tile[rank][rank] = cast<f16>(rank);
  lower[rank % 16][(rank + 32) % 64] = cast<f16>(half + 100);
  sync_warp(t);
  y[rank] = tile[rank][rank];
  y[32 + rank] = tile[16 + rank % 16][64 + (rank + 32) % 64];
  tile[std::integral_constant<int, 3>{}][rank + 64] = cast<f16>(rank + 200);
  sync_warp(t);
  y[64 + rank] = tile[3][64 + rank];
});

// A column of a tile against its rows: the transposition of a block, 16 bytes at a time on one side.
template <class Layout>
inline constexpr auto tile_transpose =
    kernel<"tile_transpose_" + layout_name<Layout>, 256>([](thread t, in<f32> x, out<f32> y) {
      shared_tile<f32, 32, 32, Layout> tile(t);
      val rank = t.thread_rank();
      val row = rank / 8, piece = rank % 8 * 4;
      store_vec(tile[row][piece], load_vec<4>(x[row * 32 + piece]));
      t.barrier();
      for (u32 k = 0; k < 4; ++k)
        y[(rank / 32 + 8 * k) * 32 + rank % 32] = tile[rank % 32][rank / 32 + 8 * k];
    });

// A box of a tensor, as the tensor copy lays it down, read through the tile's cells. A tile of several panels
// takes a copy for each.
template <class T, u32 Rows, u32 Columns, class Layout>
inline constexpr auto tile_by_tensor_copy =
    kernel<"tile_by_tensor_copy_" + tile_name<T, Rows, Columns, Layout>, tile_threads>(
        [](thread t, tensor_map<T, 2> map, out<T> y) {
          using tile_type = shared_tile<T, Rows, Columns, Layout>;
          tile_type tile(t);
          mbarriers<1> full(t);
          if (auto one = t.when(t.thread_rank() == 0)) {
            full[0].init(1);
            fence_mbarrier_init(t);
            full[0].arrive_expect_tx(tile_type::bytes);
            for (u32 p = 0; p < tile_type::layout::panels; ++p)
              copy_tensor(tile.panel(p), map, coordinates(p * tile_type::layout::panel_columns, 0), full[0]);
          }
          t.barrier();
          full[0].wait(0u);
          for (auto i : t.range(t.thread_rank(), Rows * Columns, tile_threads))
            y[i] = tile[i / Columns][i % Columns];
        });

}  // namespace kaio::tests
