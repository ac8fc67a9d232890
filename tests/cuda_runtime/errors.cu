// Mistakes, as the runtime reports them. The argument chooses the one after which the context is lost.

#include "check.hpp"

#include <cassert>
#include <cstring>

__global__ void write(int* x, int at) { x[at] = 1; }
__global__ void insist(int value) { assert(value == 3); }

static void refused() {
  int* x = nullptr;
  CHECK(cudaMalloc(&x, 4));
  write<<<1, 2000>>>(x, 0);
  EXPECT(cudaPeekAtLastError() != cudaSuccess);
  EXPECT(cudaGetLastError() != cudaSuccess);
  CHECK(cudaGetLastError());
  FAILS(cudaErrorInvalidValue, cudaFree(reinterpret_cast<void*>(1)));
  int* y = nullptr;
  FAILS(cudaErrorMemoryAllocation, cudaMalloc(&y, std::size_t{1} << 60));
  FAILS(cudaErrorInvalidDevice, cudaSetDevice(9));
  cudaGetLastError();
  EXPECT(std::strcmp(cudaGetErrorName(cudaErrorInvalidDevice), "cudaErrorInvalidDevice") == 0);
  write<<<1, 1>>>(x, 0);
  CHECK(cudaDeviceSynchronize());
}

int main(int count, char** arguments) {
  const char* const which = count > 1 ? arguments[1] : "none";
  refused();
  int* x = nullptr;
  CHECK(cudaMalloc(&x, 4));
  if (std::strcmp(which, "address") == 0) {
    write<<<1, 1>>>(x, 1 << 28);
    FAILS(cudaErrorIllegalAddress, cudaDeviceSynchronize());
    FAILS(cudaErrorIllegalAddress, cudaFree(x));
  } else if (std::strcmp(which, "assert") == 0) {
    insist<<<1, 1>>>(4);
    FAILS(cudaErrorAssert, cudaDeviceSynchronize());
  } else {
    insist<<<1, 1>>>(3);
    CHECK(cudaDeviceSynchronize());
  }
  cudaDeviceReset();
  CHECK(cudaMalloc(&x, 4));
  write<<<1, 1>>>(x, 0);
  CHECK(cudaDeviceSynchronize());
  std::puts("errors: fine");
}
