#pragma once
// The kernels of launch_attributes.cpp: they report the cluster that the launch gave them, and hand an array
// from launch to launch that begins early.

#include <kaio/dsl/dsl.hpp>

namespace kaio::tests {

inline constexpr auto report_cluster = kernel<"report_cluster", 32, kernel_options{.target = {90, false}}>(
    [](thread t, out<u32> y, out<u32> sums, val<u32> n) {
      shared<u32, 1> mine(t);
      if (auto first = t.when(t.thread_rank() == 0)) {
        mine[0] = block_idx_x() + 1;
        y[block_idx_x()] = cluster_rank(t) + 100 * cluster_size(t);
      }
      cluster_barrier(t);
      if (auto first = t.when(t.thread_rank() == 0)) {
        var<u32> sum(t, 0);
        for (auto rank : t.range(u32{0}, cluster_size(t))) sum += remote(mine[0], rank);
        sums[block_idx_x()] = sum;
      }
      cluster_barrier(t);
      val i = t.global_id();
      if (auto in_range = t.when(i < n)) y[i + 64] = i;
    });

inline constexpr auto fixed_triples =
    kernel<"fixed_triples", 32, kernel_options{.target = {90, false}, .cluster = {3}}>(
        [](thread t, out<u32> y, val<u32> n) {
          val i = t.global_id();
          if (auto in_range = t.when(i < n)) y[i] = cluster_rank(t) + 100 * cluster_size(t);
        });

// y[i] = 3 * y[n - 1 - i] + step: each launch reads what all blocks of the one before wrote.
inline constexpr auto early_step = kernel<"early_step", 128, kernel_options{.target = {90, false}}>(
    [](thread t, in<u32> x, out<u32> y, val<u32> step, val<u32> n) {
      launch_dependents(t);
      val i = t.global_id();
      grid_dependency_wait(t);
      if (auto in_range = t.when(i < n)) y[i] = 3 * x[n - 1 - i] + step;
    });
static_assert(early_step.needs().waits_for_grids && !fixed_triples.needs().waits_for_grids);

}  // namespace kaio::tests
