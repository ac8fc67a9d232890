// Memory: allocating, copying in every shape, filling, asking what an address is, sharing with the host.

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>

#include "driver_emulator/support.hpp"

using namespace driver_emulator_test;

namespace {

std::vector<std::uint8_t> counted(std::size_t n) {
  std::vector<std::uint8_t> bytes(n);
  std::iota(bytes.begin(), bytes.end(), std::uint8_t{1});
  return bytes;
}

}  // namespace

TEST_CASE("memory has its size, an owner and an end") {
  const session s;
  CUdeviceptr a = 0, b = 0, base = 0;
  std::size_t bytes = 0, left = 0, total = 0, then = 0;
  MUST(cuMemGetInfo_v2(&left, &total));
  MUST(cuMemAlloc_v2(&a, 1000));
  CHECK(a % 256 == 0);
  MUST(cuMemAlloc_v2(&b, 1));
  MUST(cuMemGetInfo_v2(&then, &total));
  CHECK(then == left - 1001);
  MUST(cuMemGetAddressRange_v2(&base, &bytes, a + 999));
  CHECK(base == a);
  CHECK(bytes == 1000);
  REFUSED(cuMemGetAddressRange_v2(&base, &bytes, a + 1000), CUDA_ERROR_NOT_FOUND);
  REFUSED(cuMemAlloc_v2(&a, 0), CUDA_ERROR_INVALID_VALUE);
  REFUSED(cuMemAlloc_v2(nullptr, 8), CUDA_ERROR_INVALID_VALUE);
  CUdeviceptr none = 0;
  REFUSED(cuMemAlloc_v2(&none, total + 1), CUDA_ERROR_OUT_OF_MEMORY);
  REFUSED(cuMemFree_v2(a + 4), CUDA_ERROR_INVALID_VALUE);
  MUST(cuMemFree_v2(a));
  REFUSED(cuMemFree_v2(a), CUDA_ERROR_INVALID_VALUE);
  MUST(cuMemFree_v2(0));
  MUST(cuMemFree_v2(b));
  MUST(cuMemGetInfo_v2(&then, &total));
  CHECK(then == left);
  kaio_emulator_counters now;
  kaio_emulator_count(&now);
  CHECK(now.misuses == 2);
}

TEST_CASE("copies in every direction move the bytes") {
  const session s;
  const std::vector<std::uint8_t> from = counted(1000);
  std::vector<std::uint8_t> to(1000);
  CUdeviceptr a = 0, b = 0;
  MUST(cuMemAlloc_v2(&a, 1000));
  MUST(cuMemAlloc_v2(&b, 1000));
  MUST(cuMemcpyHtoD_v2(a, from.data(), 1000));
  MUST(cuMemcpyDtoD_v2(b, a, 1000));
  MUST(cuMemcpyDtoH_v2(to.data(), b, 1000));
  CHECK(to == from);
  // By address alone.
  std::fill(to.begin(), to.end(), std::uint8_t{0});
  MUST(cuMemcpy(reinterpret_cast<std::uintptr_t>(to.data()), b + 10, 500));
  CHECK(std::equal(to.begin(), to.begin() + 500, from.begin() + 10));
  MUST(cuMemcpy(a, reinterpret_cast<std::uintptr_t>(from.data()) + 1, 999));
  CUstream stream = nullptr;
  MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  MUST(cuMemcpyDtoDAsync_v2(b, a, 999, stream));
  MUST(cuMemcpyDtoHAsync_v2(to.data(), b, 999, stream));
  MUST(cuMemcpyAsync(b, a, 100, stream));
  MUST(cuMemcpyHtoDAsync_v2(a, from.data(), 10, stream));
  MUST(cuStreamSynchronize(stream));
  CHECK(std::equal(to.begin(), to.begin() + 999, from.begin() + 1));
  MUST(cuStreamDestroy_v2(stream));
  MUST(cuMemcpyHtoD_v2(a, nullptr, 0));  // nothing to copy
  REFUSED(cuMemcpyHtoD_v2(a, nullptr, 4), CUDA_ERROR_INVALID_VALUE);
  REFUSED(cuMemcpyHtoD_v2(a + 1, from.data(), 1000), CUDA_ERROR_INVALID_VALUE);
  REFUSED(cuMemcpyDtoH_v2(to.data(), a + 1000, 1), CUDA_ERROR_INVALID_VALUE);
  MUST(cuMemFree_v2(a));
  REFUSED(cuMemcpyDtoH_v2(to.data(), a, 1), CUDA_ERROR_INVALID_VALUE);
  REFUSED(cuMemcpy(reinterpret_cast<std::uintptr_t>(to.data()), a, 1), CUDA_ERROR_INVALID_VALUE);
  MUST(cuMemFree_v2(b));
}

TEST_CASE("boxes are copied row by row, with pitches and offsets of each side") {
  const session s;
  constexpr std::size_t width = 100, height = 7, depth = 3;
  const std::vector<std::uint8_t> from = counted(width * height * depth);
  CUdeviceptr rows = 0;
  std::size_t pitch = 0;
  MUST(cuMemAllocPitch_v2(&rows, &pitch, width, height * depth, 4));
  CHECK(pitch == 512);
  MUST(cuMemsetD8_v2(rows, 0xee, pitch * height * depth));
  CUDA_MEMCPY2D up{};
  up.source_type = CU_MEMORYTYPE_HOST;
  up.source_host = from.data();
  up.source_pitch = width;
  up.target_type = CU_MEMORYTYPE_DEVICE;
  up.target_device = rows;
  up.target_pitch = pitch;
  up.width = width;
  up.height = height * depth;
  MUST(cuMemcpy2D_v2(&up));
  // A window of it, from its middle.
  std::vector<std::uint8_t> window(20 * 4, 0);
  CUDA_MEMCPY2D down{};
  down.source_type = CU_MEMORYTYPE_DEVICE;
  down.source_device = rows;
  down.source_pitch = pitch;
  down.source_x = 30;
  down.source_y = 2;
  down.target_type = CU_MEMORYTYPE_HOST;
  down.target_host = window.data();
  down.target_pitch = 20;
  down.width = 10;
  down.height = 4;
  MUST(cuMemcpy2DUnaligned_v2(&down));
  for (std::size_t y = 0; y < 4; ++y)
    for (std::size_t x = 0; x < 20; ++x)
      CHECK(window[y * 20 + x] == (x < 10 ? from[(y + 2) * width + x + 30] : 0));
  // The last slice, as a box of three dimensions.
  std::vector<std::uint8_t> slice(50 * 3, 0);
  CUDA_MEMCPY3D box{};
  box.source_type = CU_MEMORYTYPE_UNIFIED;
  box.source_device = rows;
  box.source_pitch = pitch;
  box.source_height = height;
  box.source_x = 7;
  box.source_y = 1;
  box.source_z = 1;
  box.target_type = CU_MEMORYTYPE_UNIFIED;
  box.target_device = reinterpret_cast<std::uintptr_t>(slice.data());
  box.target_pitch = 25;
  box.target_height = 3;
  box.width = 25;
  box.height = 3;
  box.depth = 2;
  MUST(cuMemcpy3D_v2(&box));
  for (std::size_t z = 0; z < 2; ++z)
    for (std::size_t y = 0; y < 3; ++y)
      for (std::size_t x = 0; x < 25; ++x)
        CHECK(slice[(z * 3 + y) * 25 + x] == from[((z + 1) * height + y + 1) * width + x + 7]);
  std::uint8_t between = 0;
  MUST(cuMemcpyDtoH_v2(&between, rows + width, 1));
  CHECK(between == 0xee);  // the pitch beyond the width is left alone
  down.source_pitch = 20;  // smaller than a row
  REFUSED(cuMemcpy2D_v2(&down), CUDA_ERROR_INVALID_VALUE);
  down.source_pitch = pitch;
  down.source_y = height * depth - 2;
  REFUSED(cuMemcpy2D_v2(&down), CUDA_ERROR_INVALID_VALUE);
  REFUSED(cuMemcpy2D_v2(nullptr), CUDA_ERROR_INVALID_VALUE);
  box.depth = 3;
  REFUSED(cuMemcpy3D_v2(&box), CUDA_ERROR_INVALID_VALUE);
  MUST(cuMemFree_v2(rows));
}

TEST_CASE("fills write units of 1, 2 and 4 bytes, in a line and in rows") {
  const session s;
  CUdeviceptr a = 0;
  MUST(cuMemAlloc_v2(&a, 64));
  MUST(cuMemsetD8_v2(a, 0x11, 64));
  MUST(cuMemsetD16_v2(a + 2, 0x2233, 3));
  MUST(cuMemsetD32_v2(a + 12, 0x44556677, 2));
  MUST(cuMemsetD2D8_v2(a + 32, 8, 0x99, 3, 2));
  std::vector<std::uint8_t> bytes(64), expected(64, 0x11);
  const std::uint8_t halves[] = {0x33, 0x22, 0x33, 0x22, 0x33, 0x22};
  const std::uint8_t words[] = {0x77, 0x66, 0x55, 0x44, 0x77, 0x66, 0x55, 0x44};
  std::copy(std::begin(halves), std::end(halves), expected.begin() + 2);
  std::copy(std::begin(words), std::end(words), expected.begin() + 12);
  for (const std::size_t at : {32u, 33u, 34u, 40u, 41u, 42u}) expected[at] = 0x99;
  MUST(cuMemcpyDtoH_v2(bytes.data(), a, 64));
  CHECK(bytes == expected);
  CUstream stream = nullptr;
  MUST(cuStreamCreate(&stream, 0));
  MUST(cuMemsetD2D32Async(a, 32, 7, 2, 2, stream));
  MUST(cuMemsetD16Async(a + 48, 0xabcd, 1, stream));
  MUST(cuMemsetD2D16Async(a + 16, 4, 0x1234, 1, 2, stream));
  MUST(cuStreamSynchronize(stream));
  std::uint32_t word[16];
  MUST(cuMemcpyDtoH_v2(word, a, 64));
  CHECK(word[0] == 7);
  CHECK(word[1] == 7);
  CHECK(word[8] == 7);
  CHECK((word[4] & 0xffff) == 0x1234);
  CHECK((word[12] & 0xffff) == 0xabcd);
  MUST(cuStreamDestroy_v2(stream));
  REFUSED(cuMemsetD32_v2(a + 1, 0, 1), CUDA_ERROR_INVALID_VALUE);
  REFUSED(cuMemsetD32_v2(a, 0, 17), CUDA_ERROR_INVALID_VALUE);
  REFUSED(cuMemsetD2D8_v2(a, 2, 0, 3, 2), CUDA_ERROR_INVALID_VALUE);
  MUST(cuMemFree_v2(a));
}

TEST_CASE("the attributes of an address report what it is") {
  const session s;
  CUdeviceptr a = 0;
  MUST(cuMemAlloc_v2(&a, 100));
  unsigned type = 0;
  MUST(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, a + 50));
  CHECK(type == CU_MEMORYTYPE_DEVICE);
  CUcontext owner = nullptr;
  CUdeviceptr start = 0;
  std::size_t bytes = 0;
  unsigned long long id = 0;
  int ordinal = -1, managed = -1;
  CUpointer_attribute wanted[] = {CU_POINTER_ATTRIBUTE_CONTEXT,        CU_POINTER_ATTRIBUTE_RANGE_START_ADDR,
                                  CU_POINTER_ATTRIBUTE_RANGE_SIZE,     CU_POINTER_ATTRIBUTE_BUFFER_ID,
                                  CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, CU_POINTER_ATTRIBUTE_IS_MANAGED};
  void* to[] = {&owner, &start, &bytes, &id, &ordinal, &managed};
  MUST(cuPointerGetAttributes(6, wanted, to, a + 50));
  CHECK(owner == s.context);
  CHECK(start == a);
  CHECK(bytes == 100);
  CHECK(id != 0);
  CHECK(ordinal == 0);
  CHECK(managed == 0);
  int local = 0;
  REFUSED(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                reinterpret_cast<std::uintptr_t>(&local)),
          CUDA_ERROR_INVALID_VALUE);
  MUST(cuPointerGetAttributes(6, wanted, to, reinterpret_cast<std::uintptr_t>(&local)));
  CHECK(owner == nullptr);
  CHECK(ordinal == -2);
  MUST(cuMemFree_v2(a));
  REFUSED(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, a), CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("kernels work on memory of the host at its own address") {
  const session s;
  const loaded m(add_text);
  void* host = nullptr;
  MUST(cuMemHostAlloc(&host, 4096, 2));
  auto* values = static_cast<std::uint32_t*>(host);
  CHECK(values[1023] == 0);
  for (std::uint32_t i = 0; i < 1024; ++i) values[i] = i;
  CUdeviceptr seen = 0;
  MUST(cuMemHostGetDevicePointer_v2(&seen, values + 4, 0));
  CHECK(seen == reinterpret_cast<std::uintptr_t>(values + 4));
  MUST(launch_add(m["add"], seen, 1000, 1020));
  MUST(cuCtxSynchronize());
  CHECK(values[3] == 3);
  CHECK(values[4] == 1004);
  CHECK(values[1023] == 2023);
  unsigned flags = 0, type = 0;
  MUST(cuMemHostGetFlags(&flags, host));
  CHECK(flags == 2);
  MUST(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, seen));
  CHECK(type == CU_MEMORYTYPE_HOST);
  MUST(cuMemFreeHost(host));
  REFUSED(cuMemFreeHost(host), CUDA_ERROR_INVALID_VALUE);

  std::vector<std::uint32_t> own(256, 5);
  MUST(cuMemHostRegister_v2(own.data(), 1024, 2));
  REFUSED(cuMemHostRegister_v2(own.data() + 1, 8, 2), CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
  MUST(cuMemHostGetDevicePointer_v2(&seen, own.data(), 0));
  MUST(launch_add(m["add"], seen, 1, 256));
  MUST(cuCtxSynchronize());
  CHECK(own == std::vector<std::uint32_t>(256, 6));
  REFUSED(cuMemHostUnregister(own.data() + 1), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
  MUST(cuMemHostUnregister(own.data()));
  REFUSED(cuMemHostUnregister(own.data()), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
  REFUSED(cuMemHostGetDevicePointer_v2(&seen, own.data(), 0), CUDA_ERROR_INVALID_VALUE);

  CUdeviceptr managed = 0;
  MUST(cuMemAllocManaged(&managed, 512, 1));
  auto* both = reinterpret_cast<std::uint32_t*>(managed);
  both[127] = 70;
  MUST(cuMemPrefetchAsync(managed, 512, 0, nullptr));
  MUST(launch_add(m["add"], managed, 7, 128));
  MUST(cuCtxSynchronize());
  CHECK(both[127] == 77);
  int is_managed = 0;
  MUST(cuPointerGetAttribute(&is_managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, managed));
  CHECK(is_managed == 1);
  MUST(cuMemFree_v2(managed));
}

TEST_CASE("pools count what is taken from them in the order of streams") {
  const session s;
  const loaded m(add_text);
  CUmemoryPool usual = nullptr, own = nullptr;
  MUST(cuDeviceGetDefaultMemPool(&usual, 0));
  CUmemPoolProps properties{};
  properties.allocation_type = 1;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  MUST(cuMemPoolCreate(&own, &properties));
  CUstream stream = nullptr;
  MUST(cuStreamCreate(&stream, 0));
  CUdeviceptr a = 0, b = 0;
  MUST(cuMemAllocAsync(&a, 512, stream));
  MUST(cuMemAllocFromPoolAsync(&b, 4096, own, stream));
  MUST(cuMemsetD32Async(a, 1, 128, stream));
  MUST(launch_add(m["add"], a, 2, 128, stream));
  std::uint32_t last = 0;
  MUST(cuMemcpyDtoHAsync_v2(&last, a + 508, 4, stream));
  MUST(cuMemFreeAsync(a, stream));
  std::uint64_t used = 0;
  MUST(cuMemPoolGetAttribute(own, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used));
  CHECK(used == 4096);
  CUmemoryPool from = nullptr;
  MUST(cuPointerGetAttribute(&from, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, b));
  CHECK(from == own);
  MUST(cuMemFreeAsync(b, stream));
  MUST(cuStreamSynchronize(stream));
  CHECK(last == 3);
  MUST(cuMemPoolGetAttribute(own, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used));
  CHECK(used == 0);
  MUST(cuMemPoolGetAttribute(own, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &used));
  CHECK(used == 4096);
  std::uint64_t threshold = 77;
  MUST(cuMemPoolSetAttribute(own, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold));
  MUST(cuMemPoolGetAttribute(own, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &used));
  CHECK(used == 77);
  REFUSED(cuMemFreeAsync(a, stream), CUDA_ERROR_INVALID_VALUE);
  MUST(cuMemPoolTrimTo(own, 0));
  MUST(cuDeviceSetMemPool(0, own));
  MUST(cuMemPoolDestroy(own));
  MUST(cuDeviceGetMemPool(&from, 0));
  CHECK(from == usual);
  REFUSED(cuMemPoolDestroy(usual), CUDA_ERROR_INVALID_VALUE);
  MUST(cuStreamDestroy_v2(stream));
}
