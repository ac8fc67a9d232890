// The properties that the emulated GPUs report. Limits are those of the emulated architecture. An emulator has
// no clock rates and cache sizes: these are those of an ordinary board of that architecture.

#include "driver_emulator/state/contexts.hpp"
#include "driver_emulator/state/entry.hpp"
#include "driver_emulator/state/image_limits.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <limits>
#include <optional>

namespace kaio::driver_emulator {
namespace {

constexpr int registers_per_multiprocessor = 65536;

struct board {
  unsigned sm;
  int clock_khz, memory_clock_khz, bus_bits, l2_bytes, single_to_double;
};
constexpr int mib = 1 << 20;
constexpr board boards[] = {
    {70, 1530000, 877000, 4096, 6 * mib, 2},     {75, 1590000, 5001000, 256, 4 * mib, 32},
    {80, 1410000, 1593000, 5120, 40 * mib, 2},   {86, 1695000, 9751000, 384, 6 * mib, 64},
    {89, 2520000, 10501000, 384, 72 * mib, 64},  {90, 1980000, 2619000, 5120, 50 * mib, 2},
    {100, 1965000, 3996000, 8192, 126 * mib, 2}, {120, 2407000, 14001000, 512, 96 * mib, 64},
};

// The board of the architecture, or of the last one before it.
const board& board_of(const device& d) {
  const auto* after = std::find_if(std::begin(boards), std::end(boards),
                                   [&](const board& b) { return b.sm > d.architecture.sm; });
  return *(after == std::begin(boards) ? after : after - 1);
}

int as_int(std::uint64_t value) {
  return static_cast<int>(std::min<std::uint64_t>(value, std::numeric_limits<int>::max()));
}

// Nothing if the driver has no such attribute.
std::optional<int> attribute_of(const device& d, CUdevice_attribute attribute) {
  const emulator::architecture& a = d.architecture;
  const board& b = board_of(d);
  const bool hopper = a.sm >= 90;
  switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK: return as_int(a.threads_per_block);
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X: return as_int(a.block_x);
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y: return as_int(a.block_y);
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z: return as_int(a.block_z);
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X: return as_int(a.grid_x);
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y: return as_int(a.grid_y);
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z: return as_int(a.grid_z);
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK: return as_int(a.static_shared_per_block);
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN: return as_int(a.shared_per_block);
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR: return as_int(a.shared_per_multiprocessor);
    case CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK: return as_int(a.shared_kept_per_block);
    case CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY: return as_int(a.constant_bytes);
    case CU_DEVICE_ATTRIBUTE_WARP_SIZE: return emulator::warp_lanes;
    case CU_DEVICE_ATTRIBUTE_MAX_PITCH: return std::numeric_limits<int>::max();
    case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK:
    case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR: return registers_per_multiprocessor;
    case CU_DEVICE_ATTRIBUTE_CLOCK_RATE: return b.clock_khz;
    case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE: return b.memory_clock_khz;
    case CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH: return b.bus_bits;
    case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE: return b.l2_bytes;
    case CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE: return a.sm >= 80 ? b.l2_bytes / 4 * 3 : 0;
    case CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE: return a.sm >= 80 ? 128 * mib : 0;
    case CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO: return b.single_to_double;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT: return as_int(a.multiprocessors);
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR: return as_int(a.threads_per_multiprocessor);
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR: return as_int(a.blocks_per_multiprocessor);
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: return static_cast<int>(a.sm / 10);
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR: return static_cast<int>(a.sm % 10);
    case CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT: return 2;
    case CU_DEVICE_ATTRIBUTE_MEMPOOL_SUPPORTED_HANDLE_TYPES: return 0;
    case CU_DEVICE_ATTRIBUTE_MEM_SYNC_DOMAIN_COUNT: return hopper ? 4 : 1;
    case CU_DEVICE_ATTRIBUTE_PCI_BUS_ID: return d.ordinal + 1;
    case CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID:
    case CU_DEVICE_ATTRIBUTE_NUMA_ID: return -1;
    case CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH:
    case CU_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED: return hopper;
    // Every emulated device has these.
    case CU_DEVICE_ATTRIBUTE_GPU_OVERLAP:
    case CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY:
    case CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS:
    case CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING:
    case CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_GLOBAL_L1_CACHE_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_LOCAL_L1_CACHE_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY:
    case CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS:
    case CU_DEVICE_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM:
    case CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS:
    case CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR:
    case CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH:
    case CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_READ_ONLY_HOST_REGISTER_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_VIRTUAL_ADDRESS_MANAGEMENT_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED: return 1;
    default: break;
  }
  if (const std::optional<int> limit = image_limit(attribute)) return limit;
  // The other attributes are 0: the emulated device does not have them.
  const int last = CU_DEVICE_ATTRIBUTE_ONLY_PARTIAL_HOST_NATIVE_ATOMIC_SUPPORTED;
  if (attribute >= CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK && attribute <= last) return 0;
  return {};
}

int value_of(const device& d, CUdevice_attribute attribute) { return attribute_of(d, attribute).value_or(0); }

void copy_text(char* to, int length, const std::string& text) {
  require(to != nullptr && length > 0);
  std::snprintf(to, static_cast<std::size_t>(length), "%s", text.c_str());
}

std::string bus_id(const device& d) {
  char text[16];
  std::snprintf(text, sizeof text, "0000:%02X:00.0", static_cast<unsigned>(d.ordinal + 1) & 0xff);
  return text;
}

CUresult uuid(function_id id, CUuuid* to, CUdevice ordinal) {
  return call(id, [&] {
    require(to != nullptr);
    const device& d = find_device(ordinal);
    static constexpr char maker[] = "kaio emulator";
    std::memset(to->bytes, 0, sizeof to->bytes);
    std::memcpy(to->bytes, maker, sizeof maker - 1);
    to->bytes[14] = static_cast<char>(d.architecture.sm);
    to->bytes[15] = static_cast<char>(d.ordinal);
  });
}

}  // namespace

CUresult cuDeviceGetCount(int* count) {
  return call(function_id::cuDeviceGetCount, [&] {
    require(count != nullptr);
    *count = static_cast<int>(state().devices.size());
  });
}
CUresult cuDeviceGet(CUdevice* found, int ordinal) {
  return call(function_id::cuDeviceGet, [&] {
    require(found != nullptr);
    *found = find_device(ordinal).ordinal;
  });
}
CUresult cuDeviceGetName(char* name, int length, CUdevice ordinal) {
  return call(function_id::cuDeviceGetName, [&] { copy_text(name, length, find_device(ordinal).name()); });
}
CUresult cuDeviceGetUuid(CUuuid* to, CUdevice ordinal) {
  return uuid(function_id::cuDeviceGetUuid, to, ordinal);
}
CUresult cuDeviceGetUuid_v2(CUuuid* to, CUdevice ordinal) {
  return uuid(function_id::cuDeviceGetUuid_v2, to, ordinal);
}
CUresult cuDeviceGetLuid(char*, unsigned*, CUdevice ordinal) {
  return call(function_id::cuDeviceGetLuid, [&] {
    find_device(ordinal);
    refuse(CUDA_ERROR_NOT_SUPPORTED);  // Windows has these
  });
}
CUresult cuDeviceTotalMem_v2(std::size_t* bytes, CUdevice ordinal) {
  return call(function_id::cuDeviceTotalMem_v2, [&] {
    require(bytes != nullptr);
    *bytes = find_device(ordinal).memory_bytes;
  });
}
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice ordinal) {
  return call(function_id::cuDeviceGetAttribute, [&] {
    require(value != nullptr);
    const std::optional<int> known = attribute_of(find_device(ordinal), attribute);
    require(known.has_value());
    *value = *known;
  });
}
CUresult cuDeviceComputeCapability(int* major, int* minor, CUdevice ordinal) {
  return call(function_id::cuDeviceComputeCapability, [&] {
    require(major != nullptr && minor != nullptr);
    const device& d = find_device(ordinal);
    *major = static_cast<int>(d.architecture.sm / 10);
    *minor = static_cast<int>(d.architecture.sm % 10);
  });
}
CUresult cuDeviceGetProperties(CUdevprop* p, CUdevice ordinal) {
  return call(function_id::cuDeviceGetProperties, [&] {
    require(p != nullptr);
    const device& d = find_device(ordinal);
    const auto value = [&](CUdevice_attribute a) { return value_of(d, a); };
    *p = {value(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK),
          {value(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X), value(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y),
           value(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z)},
          {value(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X), value(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y),
           value(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z)},
          value(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK),
          value(CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY),
          value(CU_DEVICE_ATTRIBUTE_WARP_SIZE),
          value(CU_DEVICE_ATTRIBUTE_MAX_PITCH),
          value(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK),
          value(CU_DEVICE_ATTRIBUTE_CLOCK_RATE),
          value(CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT)};
  });
}
CUresult cuDeviceGetPCIBusId(char* text, int length, CUdevice ordinal) {
  return call(function_id::cuDeviceGetPCIBusId,
              [&] { copy_text(text, length, bus_id(find_device(ordinal))); });
}
CUresult cuDeviceGetByPCIBusId(CUdevice* found, const char* text) {
  return call(function_id::cuDeviceGetByPCIBusId, [&] {
    require(found != nullptr && text != nullptr);
    for (const auto& d : state().devices) {
      const std::string known = bus_id(*d);
      if (known == text || known.substr(5) == text || known.substr(0, 10) == text) {
        *found = d->ordinal;
        return;
      }
    }
    refuse(CUDA_ERROR_INVALID_DEVICE);
  });
}
CUresult cuDeviceCanAccessPeer(int* can, CUdevice from, CUdevice to) {
  return call(function_id::cuDeviceCanAccessPeer, [&] {
    require(can != nullptr);
    *can = &find_device(from) != &find_device(to);
  });
}
CUresult cuDeviceGetP2PAttribute(int* value, int attribute, CUdevice from, CUdevice to) {
  return call(function_id::cuDeviceGetP2PAttribute, [&] {
    require(value != nullptr && attribute >= 1 && attribute <= 5);
    require(&find_device(from) != &find_device(to), CUDA_ERROR_INVALID_DEVICE);
    *value =
        attribute == 2 || attribute == 3;  // access and native atomics; all ranks are 0, arrays: no access
  });
}
CUresult cuDeviceGetExecAffinitySupport(int* supported, int type, CUdevice ordinal) {
  return call(function_id::cuDeviceGetExecAffinitySupport, [&] {
    require(supported != nullptr && type == 0);
    find_device(ordinal);
    *supported = 0;
  });
}

CUresult cuDeviceGetGraphMemAttribute(CUdevice ordinal, int attribute, void* value) {
  return call(function_id::cuDeviceGetGraphMemAttribute, [&] {
    require(value != nullptr && attribute >= 0 && attribute <= 3);
    find_device(ordinal);
    std::uint64_t used = 0;  // by allocations of graphs, which last as long as their graph
    for (const auto& [handle, node] : state().nodes.all())
      if (const auto* w = std::get_if<allocate_work>(&node->what)) used += w->parameters.bytes;
    std::memcpy(value, &used, sizeof used);
  });
}
CUresult cuDeviceSetGraphMemAttribute(CUdevice ordinal, int attribute, void* value) {
  return call(function_id::cuDeviceSetGraphMemAttribute, [&] {
    require(value != nullptr && (attribute == 1 || attribute == 3));  // the high marks, which may be set to 0
    find_device(ordinal);
  });
}
CUresult cuDeviceGraphMemTrim(CUdevice ordinal) {
  return call(function_id::cuDeviceGraphMemTrim, [&] { find_device(ordinal); });
}

}  // namespace kaio::driver_emulator
