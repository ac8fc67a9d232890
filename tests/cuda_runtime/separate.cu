// Separate compilation: a kernel calls a function of another file, and uses its variable.

#include "check.hpp"
#include "separate.hpp"

extern __device__ int calls;

__global__ void fill(int* x) { x[threadIdx.x] = twice(static_cast<int>(threadIdx.x)); }

int main() {
  int *device = nullptr, host[32], count = 0;
  CHECK(cudaMalloc(&device, sizeof host));
  fill<<<1, 32>>>(device);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 32; ++i) EXPECT(host[i] == 2 * i);
  CHECK(cudaMemcpyFromSymbol(&count, calls, sizeof count));
  EXPECT(count == 32);
  CHECK(cudaFree(device));
  std::puts("separate: fine");
}
