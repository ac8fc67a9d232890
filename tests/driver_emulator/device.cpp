// The emulated devices and their contexts as a program sees them.

#include <cstring>
#include <string>
#include <thread>

#include "driver_emulator/support.hpp"

using namespace driver_emulator_test;

namespace {

int attribute(CUdevice_attribute a) {
  int value = -1;
  MUST(cuDeviceGetAttribute(&value, a, 0));
  return value;
}

}  // namespace

TEST_CASE("the device is an sm_90a with its limits") {
  MUST(cuInit(0));
  int version = 0, count = 0;
  MUST(cuDriverGetVersion(&version));
  CHECK(version == 13000);
  MUST(cuDeviceGetCount(&count));
  CHECK(count == 1);
  CUdevice d = -1;
  MUST(cuDeviceGet(&d, 0));
  CHECK(d == 0);
  char name[64];
  MUST(cuDeviceGetName(name, sizeof name, d));
  CHECK(std::string(name) == "kaio emulator sm_90a");
  char shorter[5];
  MUST(cuDeviceGetName(shorter, sizeof shorter, d));
  CHECK(std::string(shorter) == "kaio");
  std::size_t bytes = 0;
  MUST(cuDeviceTotalMem_v2(&bytes, d));
  CHECK(bytes > (std::size_t{1} << 28));
  int major = 0, minor = 0;
  MUST(cuDeviceComputeCapability(&major, &minor, d));
  CHECK(major == 9);
  CHECK(minor == 0);
  CHECK(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) == 9);
  CHECK(attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK) == 1024);
  CHECK(attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z) == 64);
  CHECK(attribute(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X) == 0x7fffffff);
  CHECK(attribute(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y) == 65535);
  CHECK(attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK) == 49152);
  CHECK(attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN) == 232448);
  CHECK(attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR) == 233472);
  CHECK(attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT) == 132);
  CHECK(attribute(CU_DEVICE_ATTRIBUTE_WARP_SIZE) == 32);
  CHECK(attribute(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK) == 65536);
  CHECK(attribute(CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH) == 1);
  CHECK(attribute(CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH) == 1);
  CHECK(attribute(CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING) == 1);
  CHECK(attribute(CU_DEVICE_ATTRIBUTE_INTEGRATED) == 0);
  CUuuid first{}, again{};
  MUST(cuDeviceGetUuid(&first, d));
  MUST(cuDeviceGetUuid_v2(&again, d));
  CHECK(std::memcmp(&first, &again, sizeof first) == 0);
  char bus[32];
  MUST(cuDeviceGetPCIBusId(bus, sizeof bus, d));
  CUdevice found = -1;
  MUST(cuDeviceGetByPCIBusId(&found, bus));
  CHECK(found == d);
  CUdevprop properties{};
  MUST(cuDeviceGetProperties(&properties, d));
  CHECK(properties.max_threads_per_block == 1024);
  CHECK(properties.simd_width == 32);
}

TEST_CASE("wrong devices and null pointers are refused") {
  MUST(cuInit(0));
  int value = 0;
  CUdevice d = 0;
  CUcontext c = nullptr;
  REFUSED(cuInit(1), CUDA_ERROR_INVALID_VALUE);
  REFUSED(cuDeviceGet(&d, 1), CUDA_ERROR_INVALID_DEVICE);
  REFUSED(cuDeviceGet(&d, -1), CUDA_ERROR_INVALID_DEVICE);
  REFUSED(cuDeviceGet(nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  REFUSED(cuDeviceGetCount(nullptr), CUDA_ERROR_INVALID_VALUE);
  REFUSED(cuDeviceGetAttribute(&value, static_cast<CUdevice_attribute>(9999), 0), CUDA_ERROR_INVALID_VALUE);
  REFUSED(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 7), CUDA_ERROR_INVALID_DEVICE);
  REFUSED(cuDeviceGetName(nullptr, 8, 0), CUDA_ERROR_INVALID_VALUE);
  REFUSED(cuDevicePrimaryCtxRetain(&c, 3), CUDA_ERROR_INVALID_DEVICE);
  REFUSED(cuDevicePrimaryCtxRelease_v2(0), CUDA_ERROR_INVALID_CONTEXT);
  const void* table = &table;
  const CUuuid any{};
  REFUSED(cuGetExportTable(&table, &any), CUDA_ERROR_NOT_FOUND);
  CHECK(table == nullptr);
}

TEST_CASE("results have names and texts") {
  const char* text = nullptr;
  MUST(cuGetErrorName(CUDA_ERROR_ILLEGAL_ADDRESS, &text));
  CHECK(std::string(text) == "CUDA_ERROR_ILLEGAL_ADDRESS");
  MUST(cuGetErrorString(CUDA_ERROR_ILLEGAL_ADDRESS, &text));
  CHECK(std::string(text) == "an illegal memory access was encountered");
  MUST(cuGetErrorName(CUDA_SUCCESS, &text));
  CHECK(std::string(text) == "CUDA_SUCCESS");
  MUST(cuGetErrorString(CUDA_ERROR_UNKNOWN, &text));
  REFUSED(cuGetErrorName(static_cast<CUresult>(12345), &text), CUDA_ERROR_INVALID_VALUE);
  CHECK(text == nullptr);
}

TEST_CASE("contexts are on a stack of each thread") {
  MUST(cuInit(0));
  CUcontext a = nullptr, b = nullptr, now = nullptr;
  MUST(cuCtxCreate_v2(&a, 0, 0));
  MUST(cuCtxCreate_v4(&b, nullptr, 4, 0));
  MUST(cuCtxGetCurrent(&now));
  CHECK(now == b);
  unsigned flags = 0, version = 0;
  MUST(cuCtxGetFlags(&flags));
  CHECK(flags == 4);
  MUST(cuCtxGetApiVersion(b, &version));
  CHECK(version >= 3020);
  MUST(cuCtxPopCurrent_v2(&now));
  CHECK(now == b);
  MUST(cuCtxGetCurrent(&now));
  CHECK(now == a);
  std::thread([&] {
    CUcontext here = a;
    CHECK(cuCtxGetCurrent(&here) == CUDA_SUCCESS);
    CHECK(here == nullptr);
    CHECK(cuCtxSynchronize() == CUDA_ERROR_INVALID_CONTEXT);
    CHECK(cuCtxPopCurrent_v2(&here) == CUDA_ERROR_INVALID_CONTEXT);
  }).join();
  unsigned long long id_a = 0, id_b = 0;
  MUST(cuCtxGetId(a, &id_a));
  MUST(cuCtxGetId(b, &id_b));
  CHECK(id_a != id_b);
  MUST(cuCtxPushCurrent_v2(b));
  CUdeviceptr x = 0;
  MUST(cuMemAlloc_v2(&x, 64));  // goes away with its context
  MUST(cuCtxDestroy_v2(b));
  REFUSED(cuCtxDestroy_v2(b), CUDA_ERROR_INVALID_CONTEXT);
  REFUSED(cuCtxSetCurrent(b), CUDA_ERROR_INVALID_CONTEXT);
  REFUSED(cuCtxSynchronize_v2(b), CUDA_ERROR_INVALID_CONTEXT);
  MUST(cuCtxGetCurrent(&now));
  CHECK(now == a);
  MUST(cuCtxDestroy_v2(a));
  MUST(cuCtxGetCurrent(&now));
  CHECK(now == nullptr);
  REFUSED(cuMemAlloc_v2(&x, 64), CUDA_ERROR_INVALID_CONTEXT);
  kaio_emulator_counters counted;
  kaio_emulator_count(&counted);
  CHECK(kaio_emulator_alive(&counted) == 0);
}

TEST_CASE("a primary context lives while it is retained") {
  MUST(cuInit(0));
  CUcontext a = nullptr, b = nullptr;
  unsigned flags = 9;
  int active = 9;
  MUST(cuDevicePrimaryCtxGetState(0, &flags, &active));
  CHECK(active == 0);
  MUST(cuDevicePrimaryCtxRetain(&a, 0));
  MUST(cuDevicePrimaryCtxRetain(&b, 0));
  CHECK(a == b);
  MUST(cuDevicePrimaryCtxRelease_v2(0));
  MUST(cuDevicePrimaryCtxGetState(0, &flags, &active));
  CHECK(active == 1);
  MUST(cuCtxSetCurrent(a));
  CUdevice where = -1;
  MUST(cuCtxGetDevice(&where));
  CHECK(where == 0);
  REFUSED(cuCtxDestroy_v2(a), CUDA_ERROR_INVALID_CONTEXT);
  MUST(cuDevicePrimaryCtxRelease_v2(0));
  REFUSED(cuCtxSynchronize(), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  REFUSED(cuDevicePrimaryCtxRelease_v2(0), CUDA_ERROR_INVALID_CONTEXT);
  MUST(cuDevicePrimaryCtxRetain(&b, 0));
  MUST(cuCtxSynchronize());
  MUST(cuDevicePrimaryCtxReset_v2(0));
  REFUSED(cuCtxSynchronize(), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  MUST(cuCtxSetCurrent(nullptr));
}

TEST_CASE("limits, priorities and cache preferences are kept") {
  const session s;
  std::size_t value = 0;
  MUST(cuCtxGetLimit(&value, CU_LIMIT_STACK_SIZE));
  CHECK(value == 1024);
  MUST(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 4000));
  MUST(cuCtxGetLimit(&value, CU_LIMIT_STACK_SIZE));
  CHECK(value == 4000);
  REFUSED(cuCtxGetLimit(&value, static_cast<CUlimit>(77)), CUDA_ERROR_UNSUPPORTED_LIMIT);
  int least = 9, greatest = 9, config = 9;
  MUST(cuCtxGetStreamPriorityRange(&least, &greatest));
  CHECK(least == 0);
  CHECK(greatest == -5);
  MUST(cuCtxSetCacheConfig(2));
  MUST(cuCtxGetCacheConfig(&config));
  CHECK(config == 2);
  MUST(cuCtxSetCacheConfig(0));
  REFUSED(cuCtxSetCacheConfig(9), CUDA_ERROR_INVALID_VALUE);
  MUST(cuProfilerStart());
  MUST(cuProfilerStop());
}

TEST_CASE("several devices see each other's memory") {
  const kaio_emulator_machine two{2, "sm_80", 12040, std::uint64_t{1} << 30};
  REQUIRE(kaio_emulator_set_machine(&two) == 1);
  MUST(cuInit(0));
  int count = 0, version = 0, can = 0, value = 0;
  MUST(cuDeviceGetCount(&count));
  CHECK(count == 2);
  MUST(cuDriverGetVersion(&version));
  CHECK(version == 12040);
  MUST(cuDeviceCanAccessPeer(&can, 0, 1));
  CHECK(can == 1);
  MUST(cuDeviceGetP2PAttribute(&value, 2, 0, 1));
  CHECK(value == 1);
  MUST(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 1));
  CHECK(value == 8);
  CUcontext a = nullptr, b = nullptr;
  MUST(cuCtxCreate_v2(&a, 0, 0));
  CUdeviceptr x = 0, y = 0;
  MUST(cuMemAlloc_v2(&x, 1024));
  CHECK(kaio_emulator_set_machine(&two) == 0);
  MUST(cuCtxCreate_v2(&b, 0, 1));
  MUST(cuMemAlloc_v2(&y, 1024));
  std::size_t left = 0, total = 0;
  MUST(cuMemGetInfo_v2(&left, &total));
  CHECK(total == std::size_t{1} << 30);
  CHECK(left == total - 1024);
  MUST(cuCtxEnablePeerAccess(a, 0));
  REFUSED(cuCtxEnablePeerAccess(a, 0), CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
  MUST(cuMemsetD32_v2(x, 42, 256));
  MUST(cuMemcpyPeer(y, b, x, a, 1024));
  std::uint32_t last = 0;
  MUST(cuMemcpyDtoH_v2(&last, y + 1020, 4));
  CHECK(last == 42);
  MUST(cuCtxDisablePeerAccess(a));
  REFUSED(cuCtxDisablePeerAccess(a), CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
  MUST(cuCtxDestroy_v2(b));
  MUST(cuCtxDestroy_v2(a));
  const kaio_emulator_machine none{-1, nullptr, 0, 0};
  REQUIRE(kaio_emulator_set_machine(&none) == 1);
  MUST(cuDeviceGetCount(&count));
  CHECK(count == 0);
  REFUSED(cuInit(0), CUDA_ERROR_NO_DEVICE);
  const kaio_emulator_machine usual{1, "sm_90a", 13000, 0};
  REQUIRE(kaio_emulator_set_machine(&usual) == 1);
}
