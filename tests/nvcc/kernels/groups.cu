// Cooperative groups: tiles of a warp, the threads that happen to be together, a block, a whole grid.

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

namespace cg = cooperative_groups;

extern "C" __global__ void tile_sums(const int* x, int* y) {
  const auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = cg::reduce(tile, x[i], cg::plus<int>());
}

extern "C" __global__ void tile_scans(const int* x, int* y) {
  const auto tile = cg::tiled_partition<32>(cg::this_thread_block());
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = cg::inclusive_scan(tile, x[i]);
}

// Each group of lanes that comes together adds for all of them.
extern "C" __global__ void aggregated(const int* x, int* count, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && x[i] > 0) {
    const auto together = cg::coalesced_threads();
    if (together.thread_rank() == 0) atomicAdd(count, static_cast<int>(together.size()));
  }
}

// A step of a diffusion, and the next one when the whole grid has made it.
extern "C" __global__ void diffusion(float* a, float* b, int n, int steps) {
  const auto grid = cg::this_grid();
  for (int s = 0; s < steps; ++s) {
    for (int i = grid.thread_rank(); i < n; i += grid.size()) {
      const float left = a[i > 0 ? i - 1 : 0], right = a[i < n - 1 ? i + 1 : n - 1];
      b[i] = 0.25f * left + 0.5f * a[i] + 0.25f * right;
    }
    grid.sync();
    float* const t = a;
    a = b;
    b = t;
  }
}
