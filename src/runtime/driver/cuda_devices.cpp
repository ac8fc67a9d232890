#include "runtime/driver/cuda_devices.hpp"

#include <kaio/runtime/error.hpp>

#include <fstream>
#include <iterator>
#include <string>

#include "runtime/base/failure.hpp"
#include "runtime/base/text.hpp"
#include "runtime/driver/result.hpp"
#include "runtime/driver/start_failure.hpp"

namespace kaio::runtime::driver {

namespace {

void check(const library& cuda, CUresult result, const char* function, std::string_view what) {
  if (result != CUDA_SUCCESS) throw_result(cuda, result, function, what);
}

// "580.65.06", from the kernel driver; empty where the system does not report it.
std::string driver_release() {
  std::ifstream file("/sys/module/nvidia/version");
  std::string release;
  std::getline(file, release);
  for (const char c : release) {
    if (!(c >= '0' && c <= '9') && c != '.') return {};
  }
  return release;
}

}  // namespace

namespace {

// Drivers report it from 11.0 on only. Source: CUDA C++ programming guide, "Technical Specifications per
// Compute Capability".
std::uint32_t blocks_per_multiprocessor(std::uint16_t sm) {
  switch (sm) {
    case 75:
    case 86:
    case 87: return 16;
    case 89:
    case 120: return 24;
    default: return 32;
  }
}

}  // namespace

void throw_result(const library& cuda, CUresult result, const char* function, std::string_view what) {
  const result_meaning meaning = meaning_of(result);
  std::string message = text("kaio: ", what, " failed: ", meaning.what, " (", name_of(cuda.call, result),
                             " from ", function, ')');
  if (!meaning.what_to_do.empty()) message += text("; ", meaning.what_to_do);
  throw_error(meaning.code, message);
}

namespace {

void check_start(const library& cuda, CUresult result, const char* function, std::string_view what) {
  if (result == CUDA_SUCCESS) return;
  const start_failure failure = start_failure_of(result, start_conditions_of(cuda));
  throw_error(failure.code,
              text("kaio: ", what, " failed: ", failure.what, " (", name_of(cuda.call, result), " from ",
                   function, ')', failure.what_to_do.empty() ? "" : "; ", failure.what_to_do));
}

}  // namespace

const library& initialised_library() {
  const library& cuda = process_library();
  check_start(cuda, cuda.call.cuInit(0), "cuInit", "starting the NVIDIA driver");
  return cuda;
}

int device_count() {
  const library& cuda = initialised_library();
  int count = 0;
  check_start(cuda, cuda.call.cuDeviceGetCount(&count), "cuDeviceGetCount", "counting the GPUs");
  return count;
}

CUdevice handle_of(int ordinal) {
  const int count = device_count();
  if (ordinal < 0 || ordinal >= count) {
    throw no_device(text("kaio: there is no cuda:", ordinal, ": the driver sees ", count,
                         count == 1 ? " GPU" : " GPUs",
                         count > 0 ? text(" (cuda:0 to cuda:", count - 1, ")") : std::string(),
                         "; check nvidia-smi and CUDA_VISIBLE_DEVICES, or set KAIO_DEVICE=emulator"));
  }
  const library& cuda = process_library();
  CUdevice handle = 0;
  check(cuda, cuda.call.cuDeviceGet(&handle, ordinal), "cuDeviceGet", text("opening cuda:", ordinal));
  return handle;
}

device_properties properties_of(int ordinal) {
  const CUdevice handle = handle_of(ordinal);
  const library& cuda = process_library();
  const std::string what = text("asking for the properties of cuda:", ordinal);
  const auto attribute = [&](CUdevice_attribute wanted) {
    int value = 0;
    check(cuda, cuda.call.cuDeviceGetAttribute(&value, wanted, handle), "cuDeviceGetAttribute", what);
    return static_cast<std::uint32_t>(value);
  };
  device_properties p;
  p.ordinal = ordinal;
  check(cuda, cuda.call.cuDeviceGetName(p.name, sizeof p.name, handle), "cuDeviceGetName", what);
  std::size_t memory = 0;
  check(cuda, cuda.call.cuDeviceTotalMem_v2(&memory, handle), "cuDeviceTotalMem", what);
  p.total_memory = memory;
  int version = 0;
  check(cuda, cuda.call.cuDriverGetVersion(&version), "cuDriverGetVersion", what);
  p.driver_version = static_cast<std::uint32_t>(version);
  p.ptx_version = newest_ptx(p.driver_version);
  p.target.sm = static_cast<std::uint16_t>(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) * 10 +
                                           attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
  p.target.arch_specific = p.target.sm >= 90;  // the first architecture that has an `a` form
  p.multiprocessors = attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  p.max_threads_per_block = attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  p.max_block = {attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X),
                 attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y),
                 attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z)};
  p.max_grid = {attribute(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X), attribute(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y),
                attribute(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z)};
  p.max_threads_per_multiprocessor = attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
  p.max_blocks_per_multiprocessor = blocks_per_multiprocessor(p.target.sm);
  p.max_blocks_per_cluster = p.target.sm < 90 ? 1 : p.target.sm < 120 ? 16 : 8;
  p.registers_per_multiprocessor = attribute(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
  p.registers_per_block = attribute(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK);
  p.shared_per_block = attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
  p.shared_per_block_optin = attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  p.shared_per_multiprocessor = attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
  p.warp_size = attribute(CU_DEVICE_ATTRIBUTE_WARP_SIZE);
  p.l2_bytes = attribute(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
  p.clock_khz = attribute(CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
  p.memory_clock_khz = attribute(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
  p.memory_bus_bits = attribute(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
  return p;
}

ptx::isa_version newest_ptx(std::uint32_t driver_version) noexcept {
  struct release {
    std::uint32_t cuda;
    ptx::isa_version ptx;
  };
  constexpr release releases[] = {
      {9000, {6, 0}},  {9010, {6, 1}},  {9020, {6, 2}},  {10000, {6, 3}}, {10010, {6, 4}}, {10020, {6, 5}},
      {11000, {7, 0}}, {11010, {7, 1}}, {11020, {7, 2}}, {11030, {7, 3}}, {11040, {7, 4}}, {11050, {7, 5}},
      {11060, {7, 6}}, {11070, {7, 7}}, {11080, {7, 8}}, {12000, {8, 0}}, {12010, {8, 1}}, {12020, {8, 2}},
      {12030, {8, 3}}, {12040, {8, 4}}, {12050, {8, 5}}, {12060, {8, 5}}, {12070, {8, 6}}, {12080, {8, 7}},
      {12090, {8, 8}}, {13000, {9, 0}}, {13010, {9, 1}},
  };
  ptx::isa_version newest{5, 0};
  for (const release& r : releases) {
    if (r.cuda <= driver_version) newest = r.ptx;
  }
  // A driver newer than the table takes all that kaio can write.
  return driver_version >= releases[std::size(releases) - 1].cuda + 10 ? ptx::isa_version{255, 255} : newest;
}

std::string describe(const device_properties& p) {
  const std::string release = driver_release();
  return text(p.name, ", sm_", p.target.sm, ", ", p.multiprocessors, " SMs, driver ", p.driver_version / 1000,
              '.', p.driver_version % 1000 / 10, release.empty() ? std::string() : text(" (", release, ")"));
}

void* current_handle() {
  const library& cuda = process_library();
  CUcontext now = nullptr;
  CUresult result = cuda.call.cuCtxGetCurrent(&now);
  if (result == CUDA_ERROR_NOT_INITIALIZED) result = initialised_library().call.cuCtxGetCurrent(&now);
  check(cuda, result, "cuCtxGetCurrent", "asking for the current context");
  return now;
}

current_context describe_current(void* handle) {
  const library& cuda = initialised_library();
  current_context now{handle};
  CUdevice device = 0;
  check(cuda, cuda.call.cuCtxGetDevice(&device), "cuCtxGetDevice",
        "asking for the device of the current context");
  const int count = device_count();
  for (int i = 0; i < count && now.ordinal < 0; ++i)
    if (handle_of(i) == device) now.ordinal = i;
  // A primary context that is current is retained already, and this does not make one.
  unsigned flags = 0;
  int active = 0;
  check(cuda, cuda.call.cuDevicePrimaryCtxGetState(device, &flags, &active), "cuDevicePrimaryCtxGetState",
        "asking for the primary context");
  if (active == 0) return now;
  CUcontext primary = nullptr;
  check(cuda, cuda.call.cuDevicePrimaryCtxRetain(&primary, device), "cuDevicePrimaryCtxRetain",
        "asking for the primary context");
  now.is_primary = primary == handle;
  cuda.call.cuDevicePrimaryCtxRelease_v2(device);
  return now;
}

int ordinal_of_memory(std::uint64_t address) {
  const library& cuda = initialised_library();
  int ordinal = -1;
  const CUresult result =
      cuda.call.cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address);
  if (is_unknown_memory(result)) return -1;
  check(cuda, result, "cuPointerGetAttribute", "asking for the GPU of an address");
  return ordinal;
}

void* context_of_memory(std::uint64_t address) {
  const library& cuda = initialised_library();
  CUcontext owner = nullptr;
  const CUresult result = cuda.call.cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_CONTEXT, address);
  if (is_unknown_memory(result)) return nullptr;
  check(cuda, result, "cuPointerGetAttribute", "asking for the context of an address");
  return owner;
}

}  // namespace kaio::runtime::driver
