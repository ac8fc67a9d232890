// Prefix sums: of a warp, of a block, and of a whole array in one pass, where each block looks back at what
// those before it have published.

__device__ unsigned warp_scan(unsigned value) {
  const unsigned lane = threadIdx.x % 32;
  for (unsigned offset = 1; offset < 32; offset *= 2) {
    const unsigned other = __shfl_up_sync(0xffffffffu, value, offset);
    if (lane >= offset) value += other;
  }
  return value;
}

__device__ unsigned block_scan(unsigned value, unsigned* of_warp) {
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  unsigned sum = warp_scan(value);
  if (lane == 31) of_warp[warp] = sum;
  __syncthreads();
  if (warp == 0) of_warp[lane] = warp_scan(lane < blockDim.x / 32 ? of_warp[lane] : 0);
  __syncthreads();
  return warp == 0 ? sum : sum + of_warp[warp - 1];
}

extern "C" __global__ void scan_block(const unsigned* x, unsigned* y) {
  __shared__ unsigned of_warp[32];
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = block_scan(x[i], of_warp);
}

// Work-efficient tree scan (Blelloch), exclusive, of 2 * blockDim.x elements.
extern "C" __global__ void scan_tree(const float* x, float* y) {
  extern __shared__ float tree[];
  const unsigned tid = threadIdx.x, n = 2 * blockDim.x;
  tree[2 * tid] = x[2 * tid];
  tree[2 * tid + 1] = x[2 * tid + 1];
  unsigned offset = 1;
  for (unsigned d = n / 2; d > 0; d /= 2, offset *= 2) {
    __syncthreads();
    if (tid < d) tree[offset * (2 * tid + 2) - 1] += tree[offset * (2 * tid + 1) - 1];
  }
  if (tid == 0) tree[n - 1] = 0;
  for (unsigned d = 1; d < n; d *= 2) {
    offset /= 2;
    __syncthreads();
    if (tid < d) {
      const unsigned a = offset * (2 * tid + 1) - 1, b = offset * (2 * tid + 2) - 1;
      const float left = tree[a];
      tree[a] = tree[b];
      tree[b] += left;
    }
  }
  __syncthreads();
  y[2 * tid] = tree[2 * tid];
  y[2 * tid + 1] = tree[2 * tid + 1];
}

// Decoupled look-back (Merrill and Garland, 2016). The upper half of a word is a tile's state, its lower half
// the sum: 0 nothing, 1 the tile's own sum, 2 the sum of all tiles up to it.
extern "C" __global__ void scan_look_back(const unsigned* x, unsigned* y, unsigned long long* state,
                                          unsigned* next_tile, unsigned n) {
  __shared__ unsigned of_warp[32];
  __shared__ unsigned tile_number, before;
  if (threadIdx.x == 0) tile_number = atomicAdd(next_tile, 1u);
  __syncthreads();
  const unsigned tile = tile_number;
  const unsigned i = tile * blockDim.x + threadIdx.x;
  const unsigned sum = block_scan(i < n ? x[i] : 0, of_warp);
  if (threadIdx.x == blockDim.x - 1) {
    volatile unsigned long long* const states = state;
    unsigned long long prefix = 0;
    if (tile > 0) {
      __threadfence();
      states[tile] = 1ull << 32 | sum;
      for (unsigned back = tile; back-- > 0;) {
        unsigned long long other;
        do other = states[back];
        while (other >> 32 == 0);
        prefix += other & 0xffffffffull;
        if (other >> 32 == 2) break;
      }
    }
    __threadfence();
    states[tile] = 2ull << 32 | ((prefix + sum) & 0xffffffffull);
    before = static_cast<unsigned>(prefix);
  }
  __syncthreads();
  if (i < n) y[i] = before + sum;
}
