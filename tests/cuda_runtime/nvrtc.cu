// A program that compiles its kernel with NVRTC for the device that it finds, as machine code.

#include "check.hpp"

#include <cuda.h>
#include <nvrtc.h>

#include <string>
#include <vector>

static const char* const source = "extern \"C\" __global__ void fill(int* x) { x[threadIdx.x] = 3 * threadIdx.x; }";

int main() {
  int *device = nullptr, host[32], major = 0, minor = 0;
  CHECK(cudaMalloc(&device, sizeof host));
  CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
  CHECK(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, 0));
  const std::string architecture = "--gpu-architecture=sm_" + std::to_string(10 * major + minor);
  const char* options[] = {architecture.c_str()};
  nvrtcProgram program;
  EXPECT(nvrtcCreateProgram(&program, source, "fill.cu", 0, nullptr, nullptr) == NVRTC_SUCCESS);
  EXPECT(nvrtcCompileProgram(program, 1, options) == NVRTC_SUCCESS);
  std::size_t bytes = 0;
  EXPECT(nvrtcGetCUBINSize(program, &bytes) == NVRTC_SUCCESS);
  std::vector<char> image(bytes);
  EXPECT(nvrtcGetCUBIN(program, image.data()) == NVRTC_SUCCESS);
  EXPECT(nvrtcDestroyProgram(&program) == NVRTC_SUCCESS);
  CUmodule module;
  CUfunction fill;
  EXPECT(cuModuleLoadData(&module, image.data()) == CUDA_SUCCESS);
  EXPECT(cuModuleGetFunction(&fill, module, "fill") == CUDA_SUCCESS);
  void* arguments[] = {&device};
  EXPECT(cuLaunchKernel(fill, 1, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr) == CUDA_SUCCESS);
  CHECK(cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 32; ++i) EXPECT(host[i] == 3 * i);
  std::puts("nvrtc: fine");
}
