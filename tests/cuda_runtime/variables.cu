// Variables of a program: the host writes and reads those of the device by their symbols, and managed ones directly.

#include "check.hpp"

__device__ int counter = 5;
__device__ float table[16];
__constant__ int scale[4] = {1, 2, 3, 4};
__managed__ int shared_total = 100;

__global__ void use_variables(int* out) {
  out[threadIdx.x] = scale[threadIdx.x % 4] * static_cast<int>(table[threadIdx.x % 16]);
  if (threadIdx.x == 0) atomicAdd(&counter, 2);
  atomicAdd(&shared_total, 1);
}

int main() {
  float values[16];
  for (int i = 0; i < 16; ++i) values[i] = static_cast<float>(10 * i);
  CHECK(cudaMemcpyToSymbol(table, values, sizeof values));
  const float more[2] = {7, 8};
  CHECK(cudaMemcpyToSymbol(table, more, sizeof more, 2 * sizeof(float)));
  int* out = nullptr;
  CHECK(cudaMalloc(&out, 32 * sizeof(int)));
  use_variables<<<1, 32>>>(out);
  CHECK(cudaDeviceSynchronize());
  EXPECT(shared_total == 132);
  int host[32], count = 0;
  CHECK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
  EXPECT(host[1] == 2 * 10 && host[2] == 3 * 7 && host[6] == 3 * 60 && host[31] == 4 * 150);
  CHECK(cudaMemcpyFromSymbol(&count, counter, sizeof count));
  EXPECT(count == 7);
  void* address = nullptr;
  std::size_t bytes = 0;
  CHECK(cudaGetSymbolAddress(&address, table));
  CHECK(cudaGetSymbolSize(&bytes, table));
  EXPECT(address != nullptr && bytes == sizeof values);
  shared_total = 1;
  use_variables<<<2, 32>>>(out);
  CHECK(cudaDeviceSynchronize());
  EXPECT(shared_total == 65);
  CHECK(cudaFree(out));
  std::puts("variables: fine");
}
