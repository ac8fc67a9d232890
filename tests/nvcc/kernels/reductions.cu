// Reductions as CUDA programs write them: a tree in shared memory, shuffles, atomics, and a last block that
// finishes the sum of all blocks.

extern "C" __global__ void tree_sum(const float* x, float* block_sums, unsigned n) {
  extern __shared__ float cells[];
  const unsigned tid = threadIdx.x;
  float sum = 0;
  for (unsigned i = blockIdx.x * blockDim.x + tid; i < n; i += gridDim.x * blockDim.x) sum += x[i];
  cells[tid] = sum;
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (tid < half) cells[tid] += cells[tid + half];
    __syncthreads();
  }
  if (tid == 0) block_sums[blockIdx.x] = cells[0];
}

__device__ int warp_sum(int value) {
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_down_sync(0xffffffffu, value, offset);
  return value;
}

extern "C" __global__ void shuffle_sum(const int* x, int* total, unsigned n) {
  __shared__ int of_warp[32];
  int sum = 0;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += x[i];
  sum = warp_sum(sum);
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x < 32) {
    sum = warp_sum(threadIdx.x < blockDim.x / 32 ? of_warp[threadIdx.x] : 0);
    if (threadIdx.x == 0) atomicAdd(total, sum);
  }
}

// The block that is the last to store its sum adds them all up.
extern "C" __global__ void last_block_sum(const int* x, volatile int* block_sums, unsigned* arrived, int* total,
                                          unsigned n) {
  __shared__ int cells[256];
  __shared__ bool last;
  const unsigned tid = threadIdx.x;
  int sum = 0;
  for (unsigned i = blockIdx.x * blockDim.x + tid; i < n; i += gridDim.x * blockDim.x) sum += x[i];
  cells[tid] = sum;
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (tid < half) cells[tid] += cells[tid + half];
    __syncthreads();
  }
  if (tid == 0) {
    block_sums[blockIdx.x] = cells[0];
    __threadfence();
    last = atomicAdd(arrived, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && tid == 0) {
    __threadfence();
    int all = 0;
    for (unsigned b = 0; b < gridDim.x; ++b) all += block_sums[b];
    *total = all;
  }
}

extern "C" __global__ void double_extremes(const double* x, unsigned long long* least, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  double value = i < n ? x[i] : __longlong_as_double(0x7ff0000000000000ll);
  for (int offset = 16; offset > 0; offset /= 2)
    value = fmin(value, __shfl_xor_sync(0xffffffffu, value, offset));
  // Doubles of one sign order as their bits do.
  if (threadIdx.x % 32 == 0) atomicMin(least, static_cast<unsigned long long>(__double_as_longlong(value)));
}
