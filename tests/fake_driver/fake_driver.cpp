#include "fake_driver/fake_driver.hpp"

#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string>

#include "runtime/driver/abi.hpp"

using namespace kaio::runtime::driver;

namespace {

struct module_text {
  std::string text;
};
struct function_of {
  module_text* module;
  unsigned most_shared = 48 * 1024;
};

std::recursive_mutex one_at_a_time;
fake_driver state;
std::map<CUdeviceptr, std::size_t> memory;
std::set<void*> host_memory, streams, events;
std::map<module_text*, std::set<function_of*>> modules;
std::size_t used_memory = 0;
int primary_context = 0;  // its address is the context
thread_local void* current = nullptr;
thread_local CUstreamCaptureMode capture_mode{};

// Counts the call and says whether it must fail.
CUresult enter() {
  const long call = state.calls++;
  const bool fails =
      state.fail_call >= 0 && (call == state.fail_call || (state.stay_failed && call > state.fail_call));
  return fails ? static_cast<CUresult>(state.fail_code) : CUDA_SUCCESS;
}

CUresult misuse(CUresult result) {
  ++state.misuses;
  return result;
}

bool has_context() { return current == &primary_context && state.contexts > 0; }

bool inside(CUdeviceptr address, std::size_t bytes) {
  auto after = memory.upper_bound(address);
  if (after == memory.begin()) return false;
  const auto& [start, size] = *--after;
  return address - start <= size && bytes <= size - (address - start);
}

void* host(CUdeviceptr address) { return reinterpret_cast<void*>(address); }

CUresult launch(const CUlaunchConfig& c, CUfunction function, void** parameters) {
  if (!has_context()) return misuse(CUDA_ERROR_INVALID_CONTEXT);
  if (!streams.contains(c.stream)) return misuse(CUDA_ERROR_INVALID_HANDLE);
  if (c.shared_bytes > reinterpret_cast<function_of*>(function)->most_shared)
    return misuse(CUDA_ERROR_INVALID_VALUE);
  bool cooperative = false;
  for (unsigned i = 0; i < c.attribute_count; ++i) {
    if (c.attributes[i].id != CU_LAUNCH_ATTRIBUTE_COOPERATIVE) return misuse(CUDA_ERROR_INVALID_VALUE);
    cooperative = c.attributes[i].value.cooperative != 0;
  }
  const unsigned resident = 7 * static_cast<unsigned>(state.blocks_of_multiprocessor);
  if (cooperative && c.grid_x * c.grid_y * c.grid_z > resident)
    return CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
  ++state.launches;
  const unsigned grid[] = {c.grid_x, c.grid_y, c.grid_z};
  const unsigned block[] = {c.block_x, c.block_y, c.block_z};
  std::memcpy(state.grid, grid, sizeof grid);
  std::memcpy(state.block, block, sizeof block);
  state.shared = c.shared_bytes;
  state.cooperative = cooperative;
  state.stream = c.stream;
  state.current_context = current;
  for (std::size_t i = 0; i < state.value_count; ++i) std::memcpy(&state.values[i], parameters[i], 8);
  return CUDA_SUCCESS;
}

}  // namespace

#define FAKE_CALL                             \
  const std::scoped_lock lock(one_at_a_time); \
  const CUresult failure = enter();
#define FAKE_FAILS \
  if (failure != CUDA_SUCCESS) return failure;
#define FAKE_NEEDS_CONTEXT \
  if (!has_context()) return misuse(CUDA_ERROR_INVALID_CONTEXT);

extern "C" {

fake_driver* fake_driver_state() { return &state; }

void fake_driver_reset() {
  const std::scoped_lock lock(one_at_a_time);
  fake_driver fresh;
  fresh.contexts = state.contexts;
  fresh.allocations = state.allocations;
  fresh.host_allocations = state.host_allocations;
  fresh.streams = state.streams;
  fresh.events = state.events;
  fresh.modules = state.modules;
  state = fresh;
}

void fake_driver_set_current(void* context) { current = context; }
void* fake_driver_current() { return current; }

CUresult cuGetErrorName(CUresult error, const char** name) {
  static const std::map<int, const char*> names{
      {1, "CUDA_ERROR_INVALID_VALUE"},     {2, "CUDA_ERROR_OUT_OF_MEMORY"},
      {100, "CUDA_ERROR_NO_DEVICE"},       {218, "CUDA_ERROR_INVALID_PTX"},
      {700, "CUDA_ERROR_ILLEGAL_ADDRESS"}, {719, "CUDA_ERROR_LAUNCH_FAILED"}};
  const auto found = names.find(error);
  *name = found == names.end() ? nullptr : found->second;
  return found == names.end() ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}
CUresult cuGetErrorString(CUresult, const char** text) {
  *text = "an error";
  return CUDA_SUCCESS;
}

CUresult cuInit(unsigned) {
  FAKE_CALL FAKE_FAILS return state.device_count > 0 ? CUDA_SUCCESS : CUDA_ERROR_NO_DEVICE;
}
CUresult cuDriverGetVersion(int* version) {
  FAKE_CALL FAKE_FAILS* version = state.driver_version;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetCount(int* count) {
  FAKE_CALL FAKE_FAILS* count = state.device_count;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  FAKE_CALL FAKE_FAILS* device = ordinal;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetName(char* name, int length, CUdevice) {
  FAKE_CALL FAKE_FAILS std::strncpy(name, "Fake GPU", static_cast<std::size_t>(length));
  return CUDA_SUCCESS;
}
CUresult cuDeviceTotalMem_v2(std::size_t* bytes, CUdevice) {
  FAKE_CALL FAKE_FAILS* bytes = state.total_memory;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice) {
  FAKE_CALL FAKE_FAILS switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X:
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y: *value = 1024; break;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z: *value = 64; break;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X: *value = 0x7fffffff; break;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y:
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z: *value = 65535; break;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK: *value = 48 * 1024; break;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN: *value = 227 * 1024; break;
    case CU_DEVICE_ATTRIBUTE_WARP_SIZE: *value = 32; break;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: *value = state.sm / 10; break;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR: *value = state.sm % 10; break;
    default: *value = 7;
  }
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice) {
  FAKE_CALL FAKE_FAILS++ state.contexts;
  *context = reinterpret_cast<CUcontext>(&primary_context);
  return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice) {
  FAKE_CALL
  if (state.contexts == 0) return misuse(CUDA_ERROR_INVALID_CONTEXT);
  --state.contexts;
  return failure;
}
CUresult cuDevicePrimaryCtxGetState(CUdevice, unsigned* flags, int* active) {
  FAKE_CALL FAKE_FAILS* flags = 0;
  *active = state.contexts > 0 ? 1 : 0;
  return CUDA_SUCCESS;
}
CUresult cuCtxGetCurrent(CUcontext* context) {
  FAKE_CALL FAKE_FAILS* context = static_cast<CUcontext>(current);
  return CUDA_SUCCESS;
}
CUresult cuCtxSetCurrent(CUcontext context) {
  FAKE_CALL FAKE_FAILS current = context;
  return CUDA_SUCCESS;
}
CUresult cuCtxSynchronize() { FAKE_CALL FAKE_FAILS FAKE_NEEDS_CONTEXT return CUDA_SUCCESS; }

CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned count, CUjit_option* options,
                            void** values) {
  FAKE_CALL FAKE_FAILS FAKE_NEEDS_CONTEXT++ state.loads;
  for (unsigned i = 0; i < count; ++i)
    if (options[i] == CU_JIT_OPTIMIZATION_LEVEL)
      state.jit_level = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(values[i]));
  if (state.jit_code != 0) {
    for (unsigned i = 0; i < count; ++i) {
      if (options[i] == CU_JIT_ERROR_LOG_BUFFER) std::strcpy(static_cast<char*>(values[i]), state.jit_log);
    }
    return static_cast<CUresult>(state.jit_code);
  }
  auto* fresh = new module_text{static_cast<const char*>(image)};
  modules[fresh];
  ++state.modules;
  *module = reinterpret_cast<CUmodule>(fresh);
  return CUDA_SUCCESS;
}
CUresult cuModuleUnload(CUmodule module) {
  FAKE_CALL
  auto* known = reinterpret_cast<module_text*>(module);
  const auto found = modules.find(known);
  if (found == modules.end()) return misuse(CUDA_ERROR_INVALID_HANDLE);
  for (function_of* function : found->second) delete function;
  modules.erase(found);
  delete known;
  --state.modules;
  return failure;
}
CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  FAKE_CALL FAKE_FAILS FAKE_NEEDS_CONTEXT auto* known = reinterpret_cast<module_text*>(module);
  const auto found = modules.find(known);
  if (found == modules.end()) return misuse(CUDA_ERROR_INVALID_HANDLE);
  if (known->text.find(".entry " + std::string(name) + "(") == std::string::npos) return CUDA_ERROR_NOT_FOUND;
  auto* fresh = new function_of{known};
  found->second.insert(fresh);
  *function = reinterpret_cast<CUfunction>(fresh);
  return CUDA_SUCCESS;
}
CUresult cuFuncGetAttribute(int* value, CUfunction_attribute, CUfunction) {
  FAKE_CALL FAKE_FAILS* value = state.most_threads;
  return CUDA_SUCCESS;
}
CUresult cuFuncLoad(CUfunction) { FAKE_CALL FAKE_FAILS return CUDA_SUCCESS; }
CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
  FAKE_CALL FAKE_FAILS FAKE_NEEDS_CONTEXT if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES ||
                                              value > 227 * 1024) return misuse(CUDA_ERROR_INVALID_VALUE);
  ++state.shared_settings;
  reinterpret_cast<function_of*>(function)->most_shared = static_cast<unsigned>(value);
  return CUDA_SUCCESS;
}
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction function, int,
                                                     std::size_t dynamic_shared) {
  FAKE_CALL FAKE_FAILS FAKE_NEEDS_CONTEXT if (dynamic_shared >
                                              reinterpret_cast<function_of*>(function)
                                                  ->most_shared) return misuse(CUDA_ERROR_INVALID_VALUE);
  *blocks = state.blocks_of_multiprocessor;
  return CUDA_SUCCESS;
}
CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                        CUstream stream, void** parameters, void**) {
  FAKE_CALL FAKE_FAILS return launch(
      {grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream, nullptr, 0}, function,
      parameters);
}
CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void** parameters, void**) {
  FAKE_CALL FAKE_FAILS return launch(*config, function, parameters);
}

CUresult cuMemAlloc_v2(CUdeviceptr* address, std::size_t bytes) {
  FAKE_CALL FAKE_FAILS FAKE_NEEDS_CONTEXT if (bytes == 0) return misuse(CUDA_ERROR_INVALID_VALUE);
  if (bytes > state.total_memory - used_memory) return CUDA_ERROR_OUT_OF_MEMORY;
  void* block = std::malloc(bytes);
  std::memset(block, 0xa5, bytes);
  *address = reinterpret_cast<CUdeviceptr>(block);
  memory[*address] = bytes;
  used_memory += bytes;
  ++state.allocations;
  return CUDA_SUCCESS;
}
CUresult cuMemFree_v2(CUdeviceptr address) {
  FAKE_CALL
  const auto found = memory.find(address);
  if (found == memory.end()) return misuse(CUDA_ERROR_INVALID_VALUE);
  used_memory -= found->second;
  memory.erase(found);
  std::free(host(address));
  --state.allocations;
  return failure;
}
CUresult cuMemHostAlloc(void** address, std::size_t bytes, unsigned) {
  FAKE_CALL FAKE_FAILS FAKE_NEEDS_CONTEXT* address = std::malloc(bytes);
  std::memset(*address, 0xa5, bytes);
  host_memory.insert(*address);
  ++state.host_allocations;
  return CUDA_SUCCESS;
}
CUresult cuMemFreeHost(void* address) {
  FAKE_CALL
  if (host_memory.erase(address) == 0) return misuse(CUDA_ERROR_INVALID_VALUE);
  std::free(address);
  --state.host_allocations;
  return failure;
}
CUresult cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
  FAKE_CALL FAKE_FAILS FAKE_NEEDS_CONTEXT* free = state.total_memory - used_memory;
  *total = state.total_memory;
  return CUDA_SUCCESS;
}
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, std::size_t bytes, CUstream stream) {
  FAKE_CALL FAKE_FAILS FAKE_NEEDS_CONTEXT if (!inside(to, bytes) || !streams.contains(stream)) return misuse(
      CUDA_ERROR_INVALID_VALUE);
  std::memcpy(host(to), from, bytes);
  return CUDA_SUCCESS;
}
CUresult cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  FAKE_CALL FAKE_FAILS FAKE_NEEDS_CONTEXT if (!inside(from, bytes) ||
                                              !streams.contains(
                                                  stream)) return misuse(CUDA_ERROR_INVALID_VALUE);
  std::memcpy(to, host(from), bytes);
  return CUDA_SUCCESS;
}
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  FAKE_CALL FAKE_FAILS FAKE_NEEDS_CONTEXT if (!inside(to, bytes) || !inside(from, bytes) ||
                                              !streams.contains(
                                                  stream)) return misuse(CUDA_ERROR_INVALID_VALUE);
  std::memmove(host(to), host(from), bytes);
  return CUDA_SUCCESS;
}
CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, std::size_t bytes, CUstream stream) {
  FAKE_CALL FAKE_FAILS FAKE_NEEDS_CONTEXT if (!inside(to, bytes) || !streams.contains(stream)) return misuse(
      CUDA_ERROR_INVALID_VALUE);
  std::memset(host(to), value, bytes);
  return CUDA_SUCCESS;
}

CUresult cuStreamCreate(CUstream* stream, unsigned flags) {
  FAKE_CALL FAKE_FAILS FAKE_NEEDS_CONTEXT if (flags !=
                                              CU_STREAM_NON_BLOCKING) return misuse(CUDA_ERROR_INVALID_VALUE);
  *stream = reinterpret_cast<CUstream>(std::malloc(1));
  streams.insert(*stream);
  ++state.streams;
  return CUDA_SUCCESS;
}
CUresult cuStreamDestroy_v2(CUstream stream) {
  FAKE_CALL
  if (streams.erase(stream) == 0) return misuse(CUDA_ERROR_INVALID_HANDLE);
  std::free(stream);
  --state.streams;
  return failure;
}
CUresult cuStreamSynchronize(CUstream stream) {
  FAKE_CALL FAKE_FAILS return streams.contains(stream) ? CUDA_SUCCESS : misuse(CUDA_ERROR_INVALID_HANDLE);
}
CUresult cuStreamQuery(CUstream stream) {
  FAKE_CALL FAKE_FAILS return streams.contains(stream) ? CUDA_SUCCESS : misuse(CUDA_ERROR_INVALID_HANDLE);
}
CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned) {
  FAKE_CALL FAKE_FAILS return streams.contains(stream) && events.contains(event)
      ? CUDA_SUCCESS
      : misuse(CUDA_ERROR_INVALID_HANDLE);
}
CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus* status) {
  FAKE_CALL FAKE_FAILS if (!streams.contains(stream)) return misuse(CUDA_ERROR_INVALID_HANDLE);
  *status = static_cast<CUstreamCaptureStatus>(state.capturing ? 1 : 0);
  return CUDA_SUCCESS;
}
CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  FAKE_CALL FAKE_FAILS const CUstreamCaptureMode before = capture_mode;
  capture_mode = *mode;
  *mode = before;
  return CUDA_SUCCESS;
}

CUresult cuEventCreate(CUevent* event, unsigned) {
  FAKE_CALL FAKE_FAILS FAKE_NEEDS_CONTEXT* event = reinterpret_cast<CUevent>(std::malloc(1));
  events.insert(*event);
  ++state.events;
  return CUDA_SUCCESS;
}
CUresult cuEventDestroy_v2(CUevent event) {
  FAKE_CALL
  if (events.erase(event) == 0) return misuse(CUDA_ERROR_INVALID_HANDLE);
  std::free(event);
  --state.events;
  return failure;
}
CUresult cuEventRecord(CUevent event, CUstream stream) {
  FAKE_CALL FAKE_FAILS return streams.contains(stream) && events.contains(event)
      ? CUDA_SUCCESS
      : misuse(CUDA_ERROR_INVALID_HANDLE);
}
CUresult cuEventSynchronize(CUevent event) {
  FAKE_CALL FAKE_FAILS return events.contains(event) ? CUDA_SUCCESS : misuse(CUDA_ERROR_INVALID_HANDLE);
}
CUresult cuEventQuery(CUevent event) {
  FAKE_CALL FAKE_FAILS return events.contains(event) ? CUDA_SUCCESS : misuse(CUDA_ERROR_INVALID_HANDLE);
}
CUresult cuEventElapsedTime(float* milliseconds, CUevent begin, CUevent end) {
  FAKE_CALL FAKE_FAILS* milliseconds = 1.5f;
  return events.contains(begin) && events.contains(end) ? CUDA_SUCCESS : misuse(CUDA_ERROR_INVALID_HANDLE);
}

}  // extern "C"
