// mbarriers: cuda::barrier with arrivals apart from the wait, and bulk copies that complete transactions.

#include <cuda/barrier>
#include <cuda/ptx>

using barrier = cuda::barrier<cuda::thread_scope_block>;
namespace ptx = cuda::ptx;

// Threads arrive, do something else, and wait.
extern "C" __global__ void arrive_and_wait(const int* x, int* y, int rounds) {
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ barrier ready;
  __shared__ int cells[256];
  if (threadIdx.x == 0) init(&ready, blockDim.x);
  __syncthreads();
  int sum = 0;
  for (int r = 0; r < rounds; ++r) {
    cells[threadIdx.x] = x[r * blockDim.x + threadIdx.x];
    barrier::arrival_token token = ready.arrive();
    sum += r;
    ready.wait(std::move(token));
    sum += cells[(threadIdx.x + 7) % blockDim.x];
    ready.arrive_and_wait();
  }
  y[threadIdx.x] = sum;
}

// One warp produces, the others consume, through a ring of buffers.
extern "C" __global__ void producer_consumer(const int* x, int* y, int batches) {
#pragma nv_diag_suppress static_var_with_dynamic_init
  constexpr int stages = 2, size = 32;
  __shared__ barrier full[stages], empty[stages];
  __shared__ int cells[stages][size];
  if (threadIdx.x < stages) {
    init(&full[threadIdx.x], blockDim.x);
    init(&empty[threadIdx.x], blockDim.x);
  }
  __syncthreads();
  if (threadIdx.x < 32) {
    for (int b = 0; b < batches; ++b) {
      empty[b % stages].arrive_and_wait();
      cells[b % stages][threadIdx.x] = x[b * size + threadIdx.x] * 3;
      (void)full[b % stages].arrive();
    }
  } else {
    for (int s = 0; s < stages; ++s) (void)empty[s].arrive();
    int sum = 0;
    for (int b = 0; b < batches; ++b) {
      full[b % stages].arrive_and_wait();
      sum += cells[b % stages][threadIdx.x % size];
      if (b + stages < batches) (void)empty[b % stages].arrive();
    }
    y[threadIdx.x - 32] = sum;
  }
}

// Bulk copies in both directions.
extern "C" __global__ void bulk_copies(const int* x, int* y) {
#pragma nv_diag_suppress static_var_with_dynamic_init
  constexpr int size = 512;
  __shared__ alignas(16) int cells[size];
  __shared__ barrier arrived;
  const int* const from = x + blockIdx.x * size;
  int* const to = y + blockIdx.x * size;
  if (threadIdx.x == 0) {
    init(&arrived, blockDim.x);
    ptx::fence_proxy_async(ptx::space_shared);
  }
  __syncthreads();
  barrier::arrival_token token;
  if (threadIdx.x == 0) {
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, cells, from, sizeof cells,
                       cuda::device::barrier_native_handle(arrived));
    token = cuda::device::barrier_arrive_tx(arrived, 1, sizeof cells);
  } else {
    token = arrived.arrive();
  }
  arrived.wait(std::move(token));
  for (int i = threadIdx.x; i < size; i += blockDim.x) cells[i] += 1;
  ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();
  if (threadIdx.x == 0) {
    ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, to, cells, sizeof cells);
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
  }
}
