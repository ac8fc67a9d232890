// Blocks of a cluster that read and update each other's shared memory.

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

// A histogram whose bins are spread over the blocks of the cluster.
extern "C" __global__ void __cluster_dims__(4, 1, 1) cluster_histogram(const unsigned* x, unsigned* bins, unsigned n) {
  constexpr unsigned own_bins = 16;
  __shared__ unsigned own[own_bins];
  const auto cluster = cg::this_cluster();
  if (threadIdx.x < own_bins) own[threadIdx.x] = 0;
  cluster.sync();
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const unsigned bin = x[i] % (own_bins * cluster.num_blocks());
    unsigned* const home = cluster.map_shared_rank(own, bin / own_bins);
    atomicAdd(&home[bin % own_bins], 1u);
  }
  cluster.sync();
  if (threadIdx.x < own_bins) atomicAdd(&bins[cluster.block_rank() * own_bins + threadIdx.x], own[threadIdx.x]);
}

// Every block passes its number to the next one.
extern "C" __global__ void __cluster_dims__(2, 2, 1) ring(unsigned* y) {
  __shared__ unsigned inbox;
  const auto cluster = cg::this_cluster();
  const unsigned rank = cluster.block_rank(), count = cluster.num_blocks();
  cluster.sync();
  if (threadIdx.x == 0) *cluster.map_shared_rank(&inbox, (rank + 1) % count) = rank * 100 + blockIdx.z;
  cluster.sync();
  if (threadIdx.x == 0) y[(blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x] = inbox;
}
