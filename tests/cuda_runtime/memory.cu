// Memory of the runtime: allocations, copies, fills, managed and page-locked memory.

#include "check.hpp"

#include <cstring>
#include <vector>

__global__ void add_one(int* x, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) x[i] += 1;
}

static void copies() {
  constexpr int n = 1000;
  int* device = nullptr;
  CHECK(cudaMalloc(&device, n * sizeof(int)));
  std::vector<int> host(n, 7);
  CHECK(cudaMemcpy(device, host.data(), n * sizeof(int), cudaMemcpyHostToDevice));
  add_one<<<(n + 255) / 256, 256>>>(device, n);
  CHECK(cudaGetLastError());
  int* other = nullptr;
  CHECK(cudaMallocAsync(&other, n * sizeof(int), nullptr));
  CHECK(cudaMemcpyAsync(other, device, n * sizeof(int), cudaMemcpyDeviceToDevice));
  CHECK(cudaMemcpy(host.data(), other, n * sizeof(int), cudaMemcpyDefault));
  for (const int value : host) EXPECT(value == 8);
  CHECK(cudaMemset(device, 0xff, n * sizeof(int)));
  CHECK(cudaMemsetAsync(device, 0, 4 * sizeof(int)));
  CHECK(cudaMemcpy(host.data(), device, n * sizeof(int), cudaMemcpyDeviceToHost));
  EXPECT(host[0] == 0 && host[3] == 0 && host[4] == -1 && host[n - 1] == -1);
  CHECK(cudaFreeAsync(other, nullptr));
  CHECK(cudaFree(device));
  CHECK(cudaFree(nullptr));
}

static void rectangles() {
  constexpr std::size_t width = 40, height = 5;  // bytes, rows
  void* device = nullptr;
  std::size_t pitch = 0;
  CHECK(cudaMallocPitch(&device, &pitch, width, height));
  EXPECT(pitch >= width);
  unsigned char from[height][width], to[height][width];
  for (std::size_t y = 0; y < height; ++y)
    for (std::size_t x = 0; x < width; ++x) from[y][x] = static_cast<unsigned char>(y * width + x);
  CHECK(cudaMemset2D(device, pitch, 0x11, width, height));
  CHECK(cudaMemcpy2D(device, pitch, from, width, width - 1, height, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy2DAsync(to, width, device, pitch, width, height, cudaMemcpyDeviceToHost, nullptr));
  CHECK(cudaDeviceSynchronize());
  for (std::size_t y = 0; y < height; ++y)
    for (std::size_t x = 0; x < width; ++x) EXPECT(to[y][x] == (x == width - 1 ? 0x11 : from[y][x]));
  CHECK(cudaFree(device));

  cudaPitchedPtr box{};
  const cudaExtent extent = make_cudaExtent(16, 3, 2);
  CHECK(cudaMalloc3D(&box, extent));
  CHECK(cudaMemset3D(box, 9, extent));
  unsigned char bytes[16 * 3 * 2] = {};
  cudaMemcpy3DParms copy{};
  copy.srcPtr = box;
  copy.dstPtr = make_cudaPitchedPtr(bytes, 16, 16, 3);
  copy.extent = extent;
  copy.kind = cudaMemcpyDeviceToHost;
  CHECK(cudaMemcpy3D(&copy));
  for (const unsigned char byte : bytes) EXPECT(byte == 9);
  CHECK(cudaFree(box.ptr));
}

static void memory_of_both() {
  constexpr int n = 64;
  int* managed = nullptr;
  CHECK(cudaMallocManaged(&managed, n * sizeof(int)));
  for (int i = 0; i < n; ++i) managed[i] = i;
  add_one<<<1, n>>>(managed, n);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < n; ++i) EXPECT(managed[i] == i + 1);
  cudaPointerAttributes attributes{};
  CHECK(cudaPointerGetAttributes(&attributes, managed));
  EXPECT(attributes.type == cudaMemoryTypeManaged);
  CHECK(cudaFree(managed));

  int* pinned = nullptr;
  CHECK(cudaHostAlloc(&pinned, n * sizeof(int), cudaHostAllocMapped));
  std::memset(pinned, 0, n * sizeof(int));
  int* seen = nullptr;
  CHECK(cudaHostGetDevicePointer(&seen, pinned, 0));
  add_one<<<1, n>>>(seen, n);
  CHECK(cudaDeviceSynchronize());
  EXPECT(pinned[0] == 1 && pinned[n - 1] == 1);
  CHECK(cudaPointerGetAttributes(&attributes, pinned));
  EXPECT(attributes.type == cudaMemoryTypeHost);
  CHECK(cudaFreeHost(pinned));

  std::vector<int> ordinary(n, 3);
  CHECK(cudaHostRegister(ordinary.data(), n * sizeof(int), cudaHostRegisterMapped));
  CHECK(cudaHostGetDevicePointer(&seen, ordinary.data(), 0));
  add_one<<<1, n>>>(seen, n);
  CHECK(cudaDeviceSynchronize());
  EXPECT(ordinary[5] == 4);
  CHECK(cudaHostUnregister(ordinary.data()));
}

int main() {
  copies();
  rectangles();
  memory_of_both();
  std::size_t unused = 0, all = 0;
  CHECK(cudaMemGetInfo(&unused, &all));
  EXPECT(unused != 0 && unused <= all);
  CHECK(cudaDeviceReset());
  std::puts("memory: fine");
}
