#pragma once
// The kernels of cluster_memory.cpp: places in a cluster, the shared memory of other
// blocks, and a pipeline whose copies are multicast.

#include <kaio/dsl/dsl.hpp>

namespace kaio::tests {

template <u32 X, u32 Y, u32 Z>
inline constexpr kernel_options in_clusters{.target = {90, false}, .cluster = {X, Y, Z}};

// The position of each block: 16 numbers a block.
template <u32 X, u32 Y, u32 Z>
inline constexpr auto cluster_places =
    kernel<"cluster_places_" + decimal<X> + "_" + decimal<Y> + "_" + decimal<Z>, 32, in_clusters<X, Y, Z>>(
        [](thread t, out<u32> y) {
          const val at = t.let(t.block_rank() * 16);
          if (auto one = t.when(t.thread_rank() == 0)) {
            y[at] = cluster_rank(t);
            y[at + 1] = cluster_size(t);
            y[at + 2] = block_idx_in_cluster_x();
            y[at + 3] = block_idx_in_cluster_y();
            y[at + 4] = block_idx_in_cluster_z();
            y[at + 5] = cluster_dim_x();
            y[at + 6] = cluster_dim_y();
            y[at + 7] = cluster_dim_z();
            y[at + 8] = cluster_idx_x();
            y[at + 9] = cluster_idx_y();
            y[at + 10] = cluster_idx_z();
            y[at + 11] = grid_dim_in_clusters_x();
            y[at + 12] = grid_dim_in_clusters_y();
            y[at + 13] = grid_dim_in_clusters_z();
          }
        });

// A histogram whose bins are shared by the blocks of a cluster: block r owns bins [r * 64, r * 64 + 64).
template <u32 Blocks>
inline constexpr auto cluster_histogram =
    kernel<"cluster_histogram_" + decimal<Blocks>, 64, in_clusters<Blocks, 1, 1>>(
        [](thread t, in<u32> x, inout<u32> y, val<u32> n) {
          shared<u32, 64> bins(t);
          const val i = t.thread_rank();
          const val rank = cluster_rank(t);
          bins[i] = 0u;
          cluster_barrier(t);
          for (auto k : t.range(t.block_rank() * 64 + i, n, grid_dim_x() * 64)) {
            const val bin = t.let(x[k] % (64 * Blocks));
            atomic_add(remote(bins[bin % 64], bin / 64), 1u, order::relaxed, scope::cluster);
          }
          cluster_barrier(t);
          atomic_add(y[rank * 64 + i], bins[i]);
        });

// Each block gets its neighbours' numbers by loads, stores, vectors, async stores and a bulk copy.
inline constexpr auto cluster_exchange = kernel<"cluster_exchange", 32, in_clusters<4, 1, 1>>(
    [](thread t, in<u32> x, out<u32> y, out<f32> f, out<u64> u) {
      shared<u32, 32> own(t), stored(t), inbox(t), bulk(t);
      shared<u64, 32> wide(t);
      shared_tile<f32, 2, 32, padded<4>> floats(t);
      mbarriers<1> arrived(t);
      const val i = t.thread_rank();
      const val rank = cluster_rank(t);
      const val next = t.let((rank + 1) % 4), previous = t.let((rank + 3) % 4);
      const val at = t.let(t.block_rank() * 32 + i);
      own[i] = x[at];
      floats[1][i] = cast<f32>(x[at] % 1000);
      if (auto one = t.when(i == 0)) {
        arrived[0].init(1);
        fence_mbarrier_init(t);
        arrived[0].arrive_expect_tx(32 * 4 + 32 * 8 + 128);
      }
      fence_proxy_async(t);
      cluster_barrier(t);
      remote(stored[i], next) = own[i] + 1u;
      store_async(remote(inbox[31 - i], previous), own[i], arrived[0]);
      store_async(remote(wide[i], 3u - rank), cast<u64>(own[i]) * 3ull, arrived[0]);
      if (auto one = t.when(elect_one(t))) copy_bulk_remote(remote(bulk[0], next), own[0], 128, arrived[0]);
      const val theirs = remote(own[31 - i], previous);
      const val four = load_vec<4>(remote(floats[1][4 * (i % 8)], next));
      arrived[0].wait(0, scope::cluster);
      cluster_barrier(t);
      y[4 * at] = theirs;
      y[4 * at + 1] = stored[i];
      y[4 * at + 2] = inbox[i];
      y[4 * at + 3] = bulk[i];
      f[at] = four[0] + four[1] * 2.0f + four[2] * 3.0f + four[3] * 4.0f;
      u[at] = wide[i];
    });

// The rows of x [steps * 16, 64] are read by every block of a cluster: each block copies its share of a stage
// to all of them. y[block][c] = the sum over the rows r of x[r, c] * (r % 16 + block + 1).
template <u32 Blocks, u32 Stages>
inline constexpr auto multicast_sums =
    kernel<"multicast_sums_" + decimal<Blocks> + "_" + decimal<Stages>, 96,
           kernel_options{.target = {90, true}, .large_shared = true, .cluster = {Blocks, 1, 1}}>(
        [](thread t, tensor_map<f32, 2> map, out<f32> y, val<u32> steps) {
          constexpr u32 share = 16 / Blocks;  // rows of a box
          shared_tiles<f32, 16, 64, row_major, Stages> tiles(t);
          pipeline<Stages> ring(t);
          const val role = warp_rank(t);
          const val rank = cluster_rank(t);
          const val policy = l2_evict_first(t);
          if (auto one = t.when(t.thread_rank() == 0)) ring.init(1, 2 * Blocks);
          cluster_barrier(t);
          if (auto producer = t.when(role == 0)) {
            if (auto one = t.when(elect_one(t))) {
              auto to = ring.producer(t);
              for (auto k : t.range(0u, steps)) {
                to.acquire_expect(16 * 64 * 4);
                copy_tensor(row_block<share>(tiles[to.stage()], rank * share), map,
                            coordinates(0, k * 16 + rank * share), to.full(), multicast((1u << Blocks) - 1),
                            cache_hint(policy));
                to.advance();
              }
            }
          }
          if (auto consumer = t.otherwise()) {
            const val column = t.let(t.thread_rank() - 32u);
            const val lane = t.let(column % 32);
            auto from = ring.consumer(t);
            var sum(t, 0.0f);
            for ([[maybe_unused]] auto k : t.range(0u, steps)) {
              from.wait();
              for (auto r : t.range(0u, 16u))
                sum += tiles[from.stage()][r][column] * cast<f32>(r + t.block_rank() + 1);
              sync_warp(t);
              if (auto some = t.when(lane < Blocks)) from.release_to(lane);
              from.advance();
            }
            y[t.block_rank() * 64 + column] = sum;
          }
          cluster_barrier(t);  // no block ends while others copy or arrive here
        });

}  // namespace kaio::tests
