// Copies concurrent with the computation: cp.async through a pipeline of the library, and written by hand.

#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/pipeline>
#include <cuda_pipeline.h>

namespace cg = cooperative_groups;

// A matrix product whose tiles come two steps ahead.
extern "C" __global__ void matmul_async(const float* a, const float* b, float* c, int n) {
  constexpr int tile = 16, stages = 3;
  __shared__ float left[stages][tile][tile], right[stages][tile][tile];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * tile + ty, column = blockIdx.x * tile + tx;
  const auto fetch = [&](int step) {
    if (step * tile < n) {
      __pipeline_memcpy_async(&left[step % stages][ty][tx], &a[row * n + step * tile + tx], sizeof(float));
      __pipeline_memcpy_async(&right[step % stages][ty][tx], &b[(step * tile + ty) * n + column], sizeof(float));
    }
    __pipeline_commit();
  };
  float sum = 0;
  fetch(0);
  fetch(1);
  for (int step = 0; step * tile < n; ++step) {
    fetch(step + 2);
    __pipeline_wait_prior(2);
    __syncthreads();
    for (int k = 0; k < tile; ++k) sum += left[step % stages][ty][k] * right[step % stages][k][tx];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

// cuda::pipeline of a block.
extern "C" __global__ void doubled(const int* x, int* y, int batches) {
  constexpr int stages = 2;
  extern __shared__ int cells[];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
  const auto block = cg::this_thread_block();
  auto pipeline = cuda::make_pipeline(block, &state);
  const int size = block.size();
  const int* const from = x + blockIdx.x * batches * size;
  int* const to = y + blockIdx.x * batches * size;
  const auto fetch = [&](int batch) {
    pipeline.producer_acquire();
    cuda::memcpy_async(block, cells + batch % stages * size, from + batch * size, sizeof(int) * size, pipeline);
    pipeline.producer_commit();
  };
  fetch(0);
  for (int batch = 0; batch < batches; ++batch) {
    if (batch + 1 < batches) fetch(batch + 1);
    pipeline.consumer_wait();
    to[batch * size + threadIdx.x] = 2 * cells[batch % stages * size + (threadIdx.x + 1) % size];
    pipeline.consumer_release();
  }
}

// memcpy_async of cooperative groups.
extern "C" __global__ void reversed(const int* x, int* y) {
  extern __shared__ int cells[];
  const auto block = cg::this_thread_block();
  const int size = block.size();
  cg::memcpy_async(block, cells, x + blockIdx.x * size, sizeof(int) * size);
  cg::wait(block);
  y[blockIdx.x * size + threadIdx.x] = cells[size - 1 - threadIdx.x];
}
