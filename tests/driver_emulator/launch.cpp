// Launches: how parameters are handed over, which launches are refused and why, attributes, occupancy.

#include <cstring>
#include <string>

#include "driver_emulator/support.hpp"

using namespace driver_emulator_test;

namespace {

// mixed(to, u8, u16, u64, f64, 12 bytes): to[0 ...] = the arguments
const std::string mixed_text = ptx(R"(.visible .entry mixed(.param .u64 to, .param .u8 a, .param .u16 b,
    .param .u64 c, .param .f64 d, .param .align 4 .b8 e[12])
{
  .reg .b64 %d<4>;
  .reg .b32 %r<4>;
  .reg .f64 %f<2>;
  ld.param.u64 %d0, [to];
  ld.param.u8 %r0, [a];
  st.global.u32 [%d0], %r0;
  ld.param.u16 %r1, [b];
  st.global.u32 [%d0+4], %r1;
  ld.param.u64 %d1, [c];
  st.global.u64 [%d0+8], %d1;
  ld.param.f64 %f0, [d];
  st.global.f64 [%d0+16], %f0;
  ld.param.u32 %r2, [e+8];
  st.global.u32 [%d0+24], %r2;
  ret;
}
)");

// rank(to): to[block] = rank in the cluster, its blocks, dynamic shared bytes
const std::string cluster_text = ptx(R"(.visible .entry rank(.param .u64 to)
{
  .reg .b64 %d<4>;
  .reg .b32 %r<6>;
  ld.param.u64 %d0, [to];
  mov.u32 %r0, %ctaid.x;
  mad.wide.u32 %d1, %r0, 12, %d0;
  mov.u32 %r1, %cluster_ctarank;
  mov.u32 %r2, %cluster_nctarank;
  mov.u32 %r3, %dynamic_smem_size;
  st.global.u32 [%d1], %r1;
  st.global.u32 [%d1+4], %r2;
  st.global.u32 [%d1+8], %r3;
  ret;
}
.visible .entry fixed(.param .u64 to) .reqnctapercluster 2, 1, 1
{
  ret;
}
.visible .entry narrow() .maxntid 64, 1, 1
{
  ret;
}
.visible .entry exact() .reqntid 96, 1, 1
{
  ret;
}
.extern .shared .align 16 .b8 dynamic[];
.visible .entry shared_user()
{
  .shared .align 4 .b8 tile[16384];
  ret;
}
)",
                                     "sm_90");

CUresult launch(CUfunction f, unsigned grid, unsigned block, unsigned shared = 0,
                void** parameters = nullptr) {
  return cuLaunchKernel(f, grid, 1, 1, block, 1, 1, shared, nullptr, parameters, nullptr);
}

}  // namespace

TEST_CASE("parameters are handed over by pointers or in one buffer") {
  const session s;
  const loaded m(mixed_text);
  const numbers out(7);
  struct packed {
    CUdeviceptr to;
    std::uint8_t a = 200;
    std::uint16_t b = 60000;
    std::uint64_t c = 0x123456789abcdef0;
    double d = 2.5;
    std::uint32_t e[3] = {1, 2, 3};
  } p;
  p.to = out.address;
  void* pointers[] = {&p.to, &p.a, &p.b, &p.c, &p.d, p.e};
  const auto check = [&] {
    const std::vector<std::uint32_t> got = out.read();
    CHECK(got[0] == 200);
    CHECK(got[1] == 60000);
    CHECK(got[2] == 0x9abcdef0);
    CHECK(got[3] == 0x12345678);
    double d = 0;
    std::memcpy(&d, &got[4], 8);
    CHECK(d == 2.5);
    CHECK(got[6] == 3);
    MUST(cuMemsetD32_v2(out.address, 0, 7));
  };
  MUST(launch(m["mixed"], 1, 1, 0, pointers));
  check();
  std::size_t bytes = sizeof p;
  void* buffer[] = {reinterpret_cast<void*>(1), &p, reinterpret_cast<void*>(2), &bytes, nullptr};
  MUST(cuLaunchKernel(m["mixed"], 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, buffer));
  check();
  kaio_emulator_launch last;
  REQUIRE(kaio_emulator_last_launch(&last) == 1);
  CHECK(std::string(last.kernel) == "mixed");
  CHECK(last.parameter_bytes == 44);
  CHECK(std::memcmp(last.parameters, &p, 9) == 0);
  CHECK(last.context == s.context);
  REFUSED(cuLaunchKernel(m["mixed"], 1, 1, 1, 1, 1, 1, 0, nullptr, pointers, buffer),
          CUDA_ERROR_INVALID_VALUE);
  bytes = 20;
  REFUSED(cuLaunchKernel(m["mixed"], 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, buffer),
          CUDA_ERROR_INVALID_VALUE);
  REFUSED(launch(m["mixed"], 1, 1), CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("a launch that the device or the kernel does not allow is refused with the driver's code") {
  const session s;
  const loaded m(cluster_text);
  REFUSED(launch(m["narrow"], 0, 1), CUDA_ERROR_INVALID_VALUE);
  REFUSED(launch(m["narrow"], 1, 0), CUDA_ERROR_INVALID_VALUE);
  REFUSED(launch(m["narrow"], 1, 1025), CUDA_ERROR_INVALID_VALUE);
  REFUSED(launch(m["narrow"], 1, 65), CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
  REFUSED(launch(m["exact"], 1, 64), CUDA_ERROR_INVALID_VALUE);
  REFUSED(cuLaunchKernel(m["narrow"], 1, 65536, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr),
          CUDA_ERROR_INVALID_VALUE);
  REFUSED(cuLaunchKernel(m["narrow"], 1, 1, 1, 1, 1, 65, 0, nullptr, nullptr, nullptr),
          CUDA_ERROR_INVALID_VALUE);
  REFUSED(launch(nullptr, 1, 1), CUDA_ERROR_INVALID_HANDLE);
  MUST(launch(m["narrow"], 1, 64));
  MUST(launch(m["exact"], 3, 96));
  const CUfunction f = m["shared_user"];
  MUST(launch(f, 1, 32, 32768));
  REFUSED(launch(f, 1, 32, 32769), CUDA_ERROR_INVALID_VALUE);
  MUST(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 200 * 1024));
  MUST(launch(f, 1, 32, 200 * 1024));
  REFUSED(launch(f, 1, 32, 200 * 1024 + 1), CUDA_ERROR_INVALID_VALUE);
  MUST(cuCtxSynchronize());
  CUcontext other = nullptr;
  MUST(cuCtxCreate_v2(&other, 0, 0));
  REFUSED(launch(f, 1, 32), CUDA_ERROR_INVALID_HANDLE);  // the module is of another context
  MUST(cuCtxDestroy_v2(other));
  MUST(cuCtxSetCurrent(s.context));
}

TEST_CASE("a launch with attributes has clusters, and may be cooperative") {
  const session s;
  const loaded m(cluster_text);
  const numbers out(24);
  CUdeviceptr to = out.address;
  void* parameters[] = {&to};
  CUlaunchAttribute attributes[3]{};
  attributes[0].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  attributes[0].value.cluster = {4, 1, 1};
  attributes[1].id = CU_LAUNCH_ATTRIBUTE_PRIORITY;
  attributes[2].id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
  attributes[2].value.programmatic_stream_serialization = 1;
  CUlaunchConfig config{8, 1, 1, 32, 1, 1, 64, nullptr, attributes, 3};
  MUST(cuLaunchKernelEx(&config, m["rank"], parameters, nullptr));
  const std::vector<std::uint32_t> got = out.read();
  for (std::uint32_t block = 0; block < 8; ++block) {
    CHECK(got[block * 3] == block % 4);
    CHECK(got[block * 3 + 1] == 4);
    CHECK(got[block * 3 + 2] == 64);
  }
  kaio_emulator_launch last;
  REQUIRE(kaio_emulator_last_launch(&last) == 1);
  CHECK(last.cluster[0] == 4);
  attributes[0].value.cluster = {3, 1, 1};
  REFUSED(cuLaunchKernelEx(&config, m["rank"], parameters, nullptr), CUDA_ERROR_INVALID_VALUE);
  attributes[0].value.cluster = {16, 1, 1};
  config.grid_x = 16;
  REFUSED(cuLaunchKernelEx(&config, m["rank"], parameters, nullptr), CUDA_ERROR_INVALID_CLUSTER_SIZE);
  attributes[0].value.cluster = {4, 1, 1};
  REFUSED(cuLaunchKernelEx(&config, m["fixed"], parameters, nullptr), CUDA_ERROR_INVALID_CLUSTER_SIZE);
  int width = 0;
  MUST(cuFuncGetAttribute(&width, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, m["fixed"]));
  CHECK(width == 2);
  attributes[0].id = static_cast<CUlaunchAttributeID>(99);
  REFUSED(cuLaunchKernelEx(&config, m["rank"], parameters, nullptr), CUDA_ERROR_INVALID_VALUE);
  REFUSED(cuLaunchKernelEx(nullptr, m["rank"], parameters, nullptr), CUDA_ERROR_INVALID_VALUE);

  attributes[0].id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
  attributes[0].value.cooperative = 1;
  config = {132, 1, 1, 1024, 1, 1, 0, nullptr, attributes, 1};
  MUST(cuLaunchKernelEx(&config, m["shared_user"], nullptr, nullptr));
  config.grid_x = 132 * 2 + 1;
  REFUSED(cuLaunchKernelEx(&config, m["shared_user"], nullptr, nullptr),
          CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
  REFUSED(cuLaunchCooperativeKernel(m["shared_user"], 265, 1, 1, 1024, 1, 1, 0, nullptr, nullptr),
          CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
  MUST(cuLaunchCooperativeKernel(m["shared_user"], 264, 1, 1, 1024, 1, 1, 0, nullptr, nullptr));
  MUST(cuCtxSynchronize());
}

TEST_CASE("occupancy follows threads and shared memory") {
  const session s;
  const loaded m(cluster_text);
  int blocks = 0, grid = 0, block = 0;
  MUST(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, m["rank"], 256, 0));
  CHECK(blocks == 8);
  MUST(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, m["rank"], 32, 0));
  CHECK(blocks == 32);
  MUST(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, m["shared_user"], 32, 16384, 0));
  CHECK(blocks == 6);  // 228 KB by 16 static, 16 dynamic and one of the system
  MUST(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, m["narrow"], 128, 0));
  CHECK(blocks == 0);
  MUST(cuOccupancyMaxPotentialBlockSize(&grid, &block, m["rank"], nullptr, 0, 0));
  CHECK(block == 1024);
  CHECK(grid == 264);
  MUST(cuOccupancyMaxPotentialBlockSizeWithFlags(
      &grid, &block, m["rank"], [](int threads) { return static_cast<std::size_t>(threads) * 128; }, 0, 512,
      0));
  CHECK(block <= 512);
  CHECK(grid > 0);
  std::size_t bytes = 0;
  MUST(cuOccupancyAvailableDynamicSMemPerBlock(&bytes, m["rank"], 2, 256));
  CHECK(bytes == 113 * 1024);
  CUlaunchConfig config{8, 1, 1, 128, 1, 1, 0, nullptr, nullptr, 0};
  int size = 0, clusters = 0;
  MUST(cuOccupancyMaxPotentialClusterSize(&size, m["rank"], &config));
  CHECK(size == 8);
  MUST(cuFuncSetAttribute(m["rank"], CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1));
  MUST(cuOccupancyMaxPotentialClusterSize(&size, m["rank"], &config));
  CHECK(size == 16);
  MUST(cuOccupancyMaxActiveClusters(&clusters, m["fixed"], &config));
  CHECK(clusters == 132 * 16 / 2);
  REFUSED(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, m["rank"], 0, 0), CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("the per-thread symbols take the thread's own stream for 0") {
  const session s;
  const loaded m(add_text);
  const numbers x(std::vector<std::uint32_t>(64, 1));
  CUdeviceptr to = x.address;
  std::uint32_t value = 4, n = 64;
  void* parameters[] = {&to, &value, &n};
  MUST(cuLaunchKernel_ptsz(m["add"], 1, 1, 1, 64, 1, 1, 0, nullptr, parameters, nullptr));
  MUST(cuStreamSynchronize_ptsz(nullptr));
  std::vector<std::uint32_t> got(64);
  MUST(cuMemcpyDtoH_v2_ptds(got.data(), x.address, 256));
  CHECK(got == std::vector<std::uint32_t>(64, 5));
  unsigned long long legacy = 0, own = 0, named = 0;
  MUST(cuStreamGetId(nullptr, &legacy));
  MUST(cuStreamGetId_ptsz(nullptr, &own));
  MUST(cuStreamGetId(reinterpret_cast<CUstream>(2), &named));
  CHECK(own == named);
  CHECK(own != legacy);
  MUST(cuStreamGetId_ptsz(reinterpret_cast<CUstream>(1), &named));
  CHECK(named == legacy);
}
