// Launches of the runtime: shapes, clusters, cooperative grids, attributes, occupancy, printf, host threads.

#include "check.hpp"

#include <cooperative_groups.h>

#include <thread>
#include <vector>

namespace cg = cooperative_groups;

template <class T>
__global__ void square(T* x) {
  x[threadIdx.x] *= x[threadIdx.x];
}
__global__ void reverse(int* x, int n) {
  extern __shared__ int line[];
  for (int i = static_cast<int>(threadIdx.x); i < n; i += static_cast<int>(blockDim.x)) line[i] = x[i];
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.x); i < n; i += static_cast<int>(blockDim.x)) x[i] = line[n - 1 - i];
}
__global__ void rank_in_cluster(unsigned* out) {
  if (threadIdx.x == 0) out[blockIdx.x] = cg::this_cluster().block_rank();
}
__global__ void __cluster_dims__(2, 1, 1) fixed_cluster(unsigned* out) {
  if (threadIdx.x == 0) out[blockIdx.x] = cg::this_cluster().num_blocks();
}
__global__ void sum_of_grid(int* parts, int* total) {
  cg::grid_group grid = cg::this_grid();
  if (threadIdx.x == 0) parts[blockIdx.x] = static_cast<int>(blockIdx.x) + 1;
  grid.sync();
  if (grid.thread_rank() == 0)
    for (unsigned i = 0; i < gridDim.x; ++i) *total += parts[i];
}
__global__ void greet() { printf("hello from thread %d of %s\n", static_cast<int>(threadIdx.x), "a kernel"); }

static void attributes() {
  int count = 0, major = 0;
  CHECK(cudaGetDeviceCount(&count));
  EXPECT(count == 1);
  cudaDeviceProp properties{};
  CHECK(cudaGetDeviceProperties(&properties, 0));
  EXPECT(properties.warpSize == 32 && properties.multiProcessorCount > 0 && properties.name[0] != '\0');
  CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
  EXPECT(major == properties.major);
  cudaFuncAttributes of{};
  CHECK(cudaFuncGetAttributes(&of, square<float>));
  EXPECT(of.maxThreadsPerBlock == 1024 && of.numRegs > 0);
  int blocks = 0, grid = 0, block = 0;
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, square<float>, 256, 0));
  EXPECT(blocks > 0);
  CHECK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, square<float>));
  EXPECT(grid > 0 && block > 0 && block <= 1024);
}

static void shared_memory() {
  constexpr int n = 20000;  // 80,000 bytes: more than a launch gets without asking
  std::vector<int> host(n);
  for (int i = 0; i < n; ++i) host[i] = i;
  int* device = nullptr;
  CHECK(cudaMalloc(&device, n * sizeof(int)));
  CHECK(cudaMemcpy(device, host.data(), n * sizeof(int), cudaMemcpyHostToDevice));
  reverse<<<1, 256, n * sizeof(int)>>>(device, n);
  FAILS(cudaErrorInvalidValue, cudaGetLastError());
  CHECK(cudaFuncSetAttribute(reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, n * sizeof(int)));
  reverse<<<1, 256, n * sizeof(int)>>>(device, n);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(host.data(), device, n * sizeof(int), cudaMemcpyDeviceToHost));
  EXPECT(host[0] == n - 1 && host[n - 1] == 0);
  CHECK(cudaFree(device));
}

static void clusters() {
  unsigned *device = nullptr, host[8];
  CHECK(cudaMalloc(&device, sizeof host));
  cudaLaunchAttribute shape{};
  shape.id = cudaLaunchAttributeClusterDimension;
  shape.val.clusterDim.x = 4;
  shape.val.clusterDim.y = shape.val.clusterDim.z = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = 8;
  config.blockDim = 64;
  config.attrs = &shape;
  config.numAttrs = 1;
  int resident = 0;
  CHECK(cudaOccupancyMaxActiveClusters(&resident, rank_in_cluster, &config));
  EXPECT(resident > 0);
  CHECK(cudaLaunchKernelEx(&config, rank_in_cluster, device));
  CHECK(cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost));
  for (unsigned i = 0; i < 8; ++i) EXPECT(host[i] == i % 4);
  fixed_cluster<<<8, 32>>>(device);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost));
  for (const unsigned blocks : host) EXPECT(blocks == 2);
  CHECK(cudaFree(device));
}

static void cooperative() {
  int *parts = nullptr, *total = nullptr, sum = 0;
  CHECK(cudaMalloc(&parts, 16 * sizeof(int)));
  CHECK(cudaMalloc(&total, sizeof(int)));
  CHECK(cudaMemset(total, 0, sizeof(int)));
  void* arguments[] = {&parts, &total};
  CHECK(cudaLaunchCooperativeKernel(sum_of_grid, 16, 32, arguments));
  CHECK(cudaMemcpy(&sum, total, sizeof sum, cudaMemcpyDeviceToHost));
  EXPECT(sum == 16 * 17 / 2);
  CHECK(cudaFree(parts));
  CHECK(cudaFree(total));
}

static void host_threads() {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([t] {
      cudaStream_t stream;
      CHECK(cudaStreamCreate(&stream));
      double *device = nullptr, host[32];
      CHECK(cudaMalloc(&device, sizeof host));
      for (int i = 0; i < 32; ++i) host[i] = t + i;
      for (int round = 0; round < 2; ++round) {
        CHECK(cudaMemcpyAsync(device, host, sizeof host, cudaMemcpyHostToDevice, stream));
        square<<<1, 32, 0, stream>>>(device);
        CHECK(cudaMemcpyAsync(host, device, sizeof host, cudaMemcpyDeviceToHost, stream));
      }
      CHECK(cudaStreamSynchronize(stream));
      for (int i = 0; i < 32; ++i) EXPECT(host[i] == double(t + i) * (t + i) * (t + i) * (t + i));
      CHECK(cudaFree(device));
      CHECK(cudaStreamDestroy(stream));
    });
  for (std::thread& t : threads) t.join();
}

int main() {
  attributes();
  shared_memory();
  clusters();
  cooperative();
  host_threads();
  greet<<<1, 2>>>();
  CHECK(cudaDeviceSynchronize());
  std::puts("launches: fine");
}
