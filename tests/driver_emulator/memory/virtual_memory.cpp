// Virtual memory management: physical memory at one address, at two, and at neighbouring ones; and what is not
// mapped or not accessible.

#include <cstring>

#include "driver_emulator/support.hpp"

using namespace driver_emulator_test;

namespace {

constexpr std::size_t unit = std::size_t{2} << 20;
constexpr CUmemLocation first_device{CU_MEM_LOCATION_TYPE_DEVICE, 0};
constexpr CUmemAccessDesc all_access{first_device, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};

CUmemAllocationProp on_first_device() {
  CUmemAllocationProp p{};
  p.type = pinned_memory;
  p.location = first_device;
  return p;
}

CUmemGenericAllocationHandle physical(std::size_t bytes) {
  const CUmemAllocationProp p = on_first_device();
  CUmemGenericAllocationHandle handle = 0;
  MUST(cuMemCreate(&handle, bytes, &p, 0));
  return handle;
}

// A reserved range, with nothing mapped at its end.
struct range {
  CUdeviceptr address = 0;
  std::size_t bytes;
  explicit range(std::size_t n) : bytes(n) { MUST(cuMemAddressReserve(&address, n, 0, 0, 0)); }
  ~range() { MUST(cuMemAddressFree(address, bytes)); }
  range(const range&) = delete;
  range& operator=(const range&) = delete;
};

std::uint32_t word_at(CUdeviceptr address) {
  std::uint32_t value = 0;
  MUST(cuMemcpyDtoH_v2(&value, address, 4));
  return value;
}

}  // namespace

TEST_CASE("physical memory is seen where it is mapped and accessible") {
  const session s;
  const CUmemAllocationProp p = on_first_device();
  std::size_t granularity = 0, left = 0, then = 0, total = 0;
  MUST(cuMemGetAllocationGranularity(&granularity, &p, 0));
  CHECK(granularity == unit);
  int supported = 0;
  MUST(cuDeviceGetAttribute(&supported, CU_DEVICE_ATTRIBUTE_VIRTUAL_ADDRESS_MANAGEMENT_SUPPORTED, 0));
  CHECK(supported == 1);
  MUST(cuMemGetInfo_v2(&left, &total));
  const range r(4 * unit);
  CHECK(r.address % unit == 0);
  const CUmemGenericAllocationHandle memory = physical(2 * unit);
  MUST(cuMemGetInfo_v2(&then, &total));
  CHECK(then == left - 2 * unit);
  const std::uint32_t value = 7;
  REFUSED(cuMemcpyHtoD_v2(r.address, &value, 4), CUDA_ERROR_INVALID_VALUE);
  MUST(cuMemMap(r.address + unit, 2 * unit, 0, memory, 0));
  REFUSED(cuMemcpyHtoD_v2(r.address + unit, &value, 4), CUDA_ERROR_INVALID_VALUE);
  REFUSED(cuMemcpy(r.address + unit, r.address, 4), CUDA_ERROR_INVALID_VALUE);
  unsigned long long flags = 9;
  MUST(cuMemGetAccess(&flags, &first_device, r.address + unit));
  CHECK(flags == 0);
  MUST(cuMemSetAccess(r.address + unit, 2 * unit, &all_access, 1));
  MUST(cuMemGetAccess(&flags, &first_device, r.address + 3 * unit - 1));
  CHECK(flags == 3);
  CHECK(word_at(r.address + unit) == 0);
  const loaded m(add_text);
  MUST(launch_add(m["add"], r.address + 2 * unit, 5, 1000));
  CHECK(word_at(r.address + 2 * unit + 3996) == 5);
  REFUSED(cuMemcpyHtoD_v2(r.address + 3 * unit, &value, 4), CUDA_ERROR_INVALID_VALUE);
  int ordinal = -7;
  MUST(cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, r.address + 2 * unit));
  CHECK(ordinal == 0);
  REFUSED(cuMemFree_v2(r.address + unit), CUDA_ERROR_INVALID_VALUE);
  // Memory that is released lives as long as it is mapped.
  MUST(cuMemRelease(memory));
  REFUSED(cuMemRelease(memory), CUDA_ERROR_INVALID_VALUE);
  CHECK(word_at(r.address + 2 * unit) == 5);
  REFUSED(cuMemAddressFree(r.address, 4 * unit), CUDA_ERROR_INVALID_VALUE);
  REFUSED(cuMemUnmap(r.address + unit, unit), CUDA_ERROR_INVALID_VALUE);
  MUST(cuMemUnmap(r.address + unit, 2 * unit));
  REFUSED(cuMemcpyHtoD_v2(r.address + unit, &value, 4), CUDA_ERROR_INVALID_VALUE);
  MUST(cuMemGetInfo_v2(&then, &total));
  CHECK(then >= left);
}

TEST_CASE("memory at two addresses is one memory") {
  const session s;
  const range a(unit), b(2 * unit);
  const CUmemGenericAllocationHandle memory = physical(unit);
  MUST(cuMemMap(a.address, unit, 0, memory, 0));
  MUST(cuMemMap(b.address + unit, unit, 0, memory, 0));
  MUST(cuMemSetAccess(a.address, unit, &all_access, 1));
  MUST(cuMemSetAccess(b.address + unit, unit, &all_access, 1));
  MUST(cuMemsetD32_v2(a.address, 40, 1000));
  const loaded m(add_text);
  MUST(launch_add(m["add"], b.address + unit, 2, 1000));
  CHECK(word_at(a.address) == 42);
  CHECK(word_at(a.address + 3996) == 42);
  CHECK(word_at(a.address + 4000) == 0);
  CUmemGenericAllocationHandle again = 0;
  MUST(cuMemRetainAllocationHandle(&again, reinterpret_cast<void*>(b.address + unit + 5)));
  CHECK(again == memory);
  CUmemAllocationProp p{};
  MUST(cuMemGetAllocationPropertiesFromHandle(&p, again));
  CHECK(p.type == pinned_memory);
  CHECK(p.location.id == 0);
  MUST(cuMemRelease(again));
  MUST(cuMemUnmap(a.address, unit));
  CHECK(word_at(b.address + unit) == 42);
  MUST(cuMemUnmap(b.address + unit, unit));
  // What was written is still there, and comes back with the next mapping.
  MUST(cuMemMap(a.address, unit, 0, memory, 0));
  MUST(cuMemSetAccess(a.address, unit, &all_access, 1));
  CHECK(word_at(a.address) == 42);
  MUST(cuMemUnmap(a.address, unit));
  MUST(cuMemRelease(memory));
}

TEST_CASE("neighbouring mappings are one range") {
  const session s;
  const range r(3 * unit);
  CUmemGenericAllocationHandle memory[3];
  for (std::size_t i = 0; i < 3; ++i) {
    memory[i] = physical(unit);
    MUST(cuMemMap(r.address + i * unit, unit, 0, memory[i], 0));
    MUST(cuMemRelease(memory[i]));
  }
  MUST(cuMemSetAccess(r.address, 3 * unit, &all_access, 1));
  MUST(cuMemsetD32_v2(r.address, 1, 3 * unit / 4));
  const std::vector<std::uint32_t> values = {10, 11, 12, 13};
  MUST(cuMemcpyHtoD_v2(r.address + unit - 8, values.data(), 16));  // across the first border
  CHECK(word_at(r.address + unit - 4) == 11);
  CHECK(word_at(r.address + unit) == 12);
  // Without its middle, the range is two.
  MUST(cuMemUnmap(r.address + unit, unit));
  REFUSED(cuMemcpyHtoD_v2(r.address + unit - 8, values.data(), 16), CUDA_ERROR_INVALID_VALUE);
  CHECK(word_at(r.address + 2 * unit) == 1);
  CHECK(word_at(r.address + unit - 4) == 11);
  MUST(cuMemUnmap(r.address, unit));
  MUST(cuMemUnmap(r.address + 2 * unit, unit));
}

TEST_CASE("a kernel that uses memory after its end or without access fails") {
  kaio_emulator_reset();
  const bool unmapped = GENERATE(false, true);
  MUST(cuInit(0));
  CUcontext own = nullptr;
  MUST(cuCtxCreate_v2(&own, 0, 0));
  {
    const loaded m(add_text);
    CUdeviceptr address = 0;
    MUST(cuMemAddressReserve(&address, unit, 0, 0, 0));
    const CUmemGenericAllocationHandle memory = physical(unit);
    MUST(cuMemMap(address, unit, 0, memory, 0));
    MUST(cuMemSetAccess(address, unit, &all_access, 1));
    MUST(launch_add(m["add"], address, 1, 10));
    MUST(cuCtxSynchronize());
    if (unmapped) {
      MUST(cuMemUnmap(address, unit));
    } else {
      CUmemAccessDesc none = all_access;
      none.flags = CU_MEM_ACCESS_FLAGS_PROT_NONE;
      MUST(cuMemSetAccess(address, unit, &none, 1));
    }
    // Work runs at the launch or at the wait.
    const CUresult launched = launch_add(m["add"], address, 1, 10);
    CHECK((launched == CUDA_SUCCESS || launched == CUDA_ERROR_ILLEGAL_ADDRESS));
    REFUSED(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
    if (!unmapped) MUST(cuMemUnmap(address, unit));
    MUST(cuMemRelease(memory));
    MUST(cuMemAddressFree(address, unit));
  }
  cuCtxDestroy_v2(own);
}

TEST_CASE("virtual memory is refused where it is asked for wrongly") {
  const session s;
  CUdeviceptr address = 0;
  CUmemGenericAllocationHandle memory = 0;
  CUmemAllocationProp p = on_first_device();
  REFUSED(cuMemAddressReserve(&address, unit + 1, 0, 0, 0), CUDA_ERROR_INVALID_VALUE);
  REFUSED(cuMemAddressReserve(&address, unit, 3, 0, 0), CUDA_ERROR_INVALID_VALUE);
  REFUSED(cuMemAddressReserve(nullptr, unit, 0, 0, 0), CUDA_ERROR_INVALID_VALUE);
  REFUSED(cuMemCreate(&memory, 0, &p, 0), CUDA_ERROR_INVALID_VALUE);
  REFUSED(cuMemCreate(&memory, unit / 2, &p, 0), CUDA_ERROR_INVALID_VALUE);
  REFUSED(cuMemCreate(&memory, std::size_t{1} << 50, &p, 0), CUDA_ERROR_OUT_OF_MEMORY);
  p.location.id = 99;
  REFUSED(cuMemCreate(&memory, unit, &p, 0), CUDA_ERROR_INVALID_DEVICE);
  p = on_first_device();
  p.handle_types = 8;  // CU_MEM_HANDLE_TYPE_FABRIC
  REFUSED(cuMemCreate(&memory, unit, &p, 0), CUDA_ERROR_NOT_SUPPORTED);
  const range r(2 * unit), wide(4 * unit);
  memory = physical(unit);
  REFUSED(cuMemMap(r.address, 2 * unit, 0, memory, 0), CUDA_ERROR_INVALID_VALUE);  // more than there is
  REFUSED(cuMemMap(r.address + 4096, unit, 0, memory, 0), CUDA_ERROR_INVALID_VALUE);
  REFUSED(cuMemMap(r.address, unit, 0, memory + 1000, 0), CUDA_ERROR_INVALID_VALUE);
  MUST(cuMemMap(r.address, unit, 0, memory, 0));
  REFUSED(cuMemMap(r.address, unit, 0, memory, 0), CUDA_ERROR_INVALID_VALUE);
  REFUSED(cuMemSetAccess(r.address, 2 * unit, &all_access, 1), CUDA_ERROR_INVALID_VALUE);  // half is mapped
  REFUSED(cuMemUnmap(r.address + unit, unit), CUDA_ERROR_INVALID_VALUE);
  REFUSED(cuMemAddressFree(wide.address, 2 * unit), CUDA_ERROR_INVALID_VALUE);
  MUST(cuMemUnmap(r.address, unit));
  MUST(cuMemRelease(memory));
}
