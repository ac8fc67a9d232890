#pragma once
// The kernels of async_tensor.cpp: boxes of tensors to shared tiles and back, by tensor copies.

#include <kaio/dsl/dsl.hpp>

namespace kaio::tests {

inline constexpr kernel_options tensor_options{.target = {90, false}, .large_shared = true};

template <class Layout>
inline constexpr u32 swizzle_bytes = 0;
template <u32 Bytes>
inline constexpr u32 swizzle_bytes<swizzled<Bytes>> = Bytes;

// One box at (column, row), which may be partly outside: y is the tile as its layout orders it, row by row.
template <class T, u32 Rows, u32 Columns, class Layout>
inline constexpr auto load_box =
    kernel<"load_box_" + type_name<T> + "_" + decimal<swizzle_bytes<Layout>>, 64, tensor_options>(
        [](thread t, tensor_map<T, 2> map, out<T> y, val<i32> column, val<i32> row) {
          shared_tile<T, Rows, Columns, Layout> tile(t);
          mbarriers<1> full(t);
          const val i = t.thread_rank();
          if (auto one = t.when(i == 0)) {
            prefetch(map);
            full[0].init(1);
            fence_mbarrier_init(t);
          }
          t.barrier();
          if (auto one = t.when(i == 0)) {
            prefetch_tensor(map, coordinates(column, row));
            full[0].arrive_expect_tx(decltype(tile)::bytes);
            copy_tensor(tile, map, coordinates(column, row), full[0], cache_hint(l2_evict_last(t)));
          }
          full[0].wait(0);
          for (auto k : t.range(i, Rows * Columns, 64)) y[k] = tile[k / Columns][k % Columns];
        });

// The box at (column, row) of `from` is doubled into the one of `to`, and added into the one of `sum`.
template <class T, u32 Rows, u32 Columns, class Layout>
inline constexpr auto move_box =
    kernel<"move_box_" + type_name<T> + "_" + decimal<swizzle_bytes<Layout>>, 64, tensor_options>(
        [](thread t, tensor_map<T, 2> from, tensor_map<T, 2> to, tensor_map<T, 2> sum, val<i32> column,
           val<i32> row) {
          shared_tiles<T, Rows, Columns, Layout, 2> tiles(t);
          mbarriers<1> full(t);
          const val i = t.thread_rank();
          if (auto one = t.when(i == 0)) {
            full[0].init(1);
            fence_mbarrier_init(t);
          }
          t.barrier();
          if (auto one = t.when(i == 0)) {
            full[0].arrive_expect_tx(decltype(tiles)::tile_type::bytes);
            copy_tensor(tiles[0], from, coordinates(column, row), full[0]);
          }
          full[0].wait(0);
          for (auto k : t.range(i, Rows * Columns, 64)) {
            const val x = tiles[0][k / Columns][k % Columns];
            tiles[1][k / Columns][k % Columns] = x + x;
          }
          fence_proxy_async(t);
          t.barrier();
          if (auto one = t.when(i == 0)) {
            store_tensor(to, coordinates(column, row), tiles[1], cache_hint(l2_evict_first(t)));
            reduce_tensor<bulk_operation::add>(sum, coordinates(column, row), tiles[0]);
            bulk_commit_group(t);
            bulk_wait_group<0>(t);
          }
        });

// Boxes of every rank: of Extent elements along each dimension.
template <u32 Rank, u32 Extent>
inline constexpr auto load_cube = kernel<"load_cube_" + decimal<Rank>, 32, tensor_options>(
    [](thread t, tensor_map<u32, Rank> map, out<u32> y, val<i32> first) {
      constexpr u32 count = [] {
        u32 n = 1;
        for (u32 d = 0; d < Rank; ++d) n *= Extent;
        return n;
      }();
      shared_tile<u32, 1, count, row_major> tile(t);
      mbarriers<1> full(t);
      if (auto one = t.when(t.thread_rank() == 0)) {
        full[0].init(1);
        fence_mbarrier_init(t);
      }
      t.barrier();
      if (auto one = t.when(t.thread_rank() == 0)) {
        full[0].arrive_expect_tx(4 * count);
        if constexpr (Rank == 1)
          copy_tensor(tile, map, coordinates(first), full[0]);
        else if constexpr (Rank == 3)
          copy_tensor(tile, map, coordinates(first, 1, first - 1), full[0]);
        else if constexpr (Rank == 4)
          copy_tensor(tile, map, coordinates(first, -1, 0, first), full[0]);
        else
          copy_tensor(tile, map, coordinates(first, 1, 0, 1u, first), full[0]);
      }
      full[0].wait(0);
      for (auto k : t.range(t.thread_rank(), count, 32)) y[k] = tile[0][k];
    });

}  // namespace kaio::tests
