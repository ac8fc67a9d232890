// What the driver knows of an address.

#include "driver_emulator/state/contexts.hpp"
#include "driver_emulator/state/entry.hpp"
#include "driver_emulator/state/memory_objects.hpp"

#include <cstring>

namespace kaio::driver_emulator {
namespace {

template <class Value>
void give(void* to, Value value) {
  *static_cast<Value*>(to) = value;
}

// Writes an attribute of an address. False: the address is of memory that the driver does not know.
bool give_attribute(void* to, CUpointer_attribute attribute, CUdeviceptr address) {
  const auto buffer = state().memory.find(address);
  if (!buffer) return false;
  // A variable of a module has no allocation of its own.
  const allocation* a = find_allocation(address);
  const std::shared_ptr<context> current = current_context();
  const bool host_side = a != nullptr && a->host != nullptr;
  const bool managed = a != nullptr && a->kind == allocation_kind::managed;
  const CUdeviceptr offset = address - buffer->address;
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT: give(to, a != nullptr ? a->owner : current_handle()); break;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      give(to, static_cast<unsigned>(host_side && !managed ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE));
      break;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER: give(to, address); break;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
      require(host_side);
      give(to, static_cast<char*>(a->host) + offset);
      break;
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
      give(to, static_cast<int>(a != nullptr && a->sync_operations));
      break;
    case CU_POINTER_ATTRIBUTE_BUFFER_ID: give(to, a != nullptr ? a->id : buffer->address); break;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED: give(to, static_cast<int>(managed)); break;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      give(to, a != nullptr ? a->where->ordinal : current != nullptr ? current->where->ordinal : 0);
      break;
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE: give(to, 0); break;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR: give(to, buffer->address); break;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE: give(to, static_cast<std::size_t>(buffer->bytes)); break;
    case CU_POINTER_ATTRIBUTE_MAPPED: give(to, 1); break;
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES: give(to, std::uint64_t{0}); break;
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS: give(to, 3u); break;  // readable and writable
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE: give(to, a != nullptr ? a->from : nullptr); break;
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID: give(to, a != nullptr ? a->id : std::uint64_t{0}); break;
    default: refuse(CUDA_ERROR_INVALID_VALUE);
  }
  return true;
}

// The size of an attribute in bytes: cuPointerGetAttributes zeroes it for an unknown address.
std::size_t bytes_of(CUpointer_attribute attribute) {
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_MAPPED:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
    case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE: return 4;
    default: return 8;
  }
}

}  // namespace

CUresult cuPointerGetAttribute(void* data, CUpointer_attribute attribute, CUdeviceptr address) {
  return call(function_id::cuPointerGetAttribute, [&] {
    require(data != nullptr);
    require(give_attribute(data, attribute, address));
  });
}

CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute* attributes, void** data,
                                CUdeviceptr address) {
  return call(function_id::cuPointerGetAttributes, [&] {
    require(count != 0 && attributes != nullptr && data != nullptr);
    for (unsigned i = 0; i < count; ++i) {
      require(data[i] != nullptr);
      bool known = false;
      try {
        known = give_attribute(data[i], attributes[i], address);
      } catch (const failure&) {
        // cuPointerGetAttributes sets an attribute that is not available to zero.
      }
      if (known) continue;
      std::memset(data[i], 0, bytes_of(attributes[i]));
      if (attributes[i] == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL) give(data[i], -2);  // CU_DEVICE_INVALID
    }
  });
}

CUresult cuPointerSetAttribute(const void* value, CUpointer_attribute attribute, CUdeviceptr address) {
  return call(function_id::cuPointerSetAttribute, [&](context&) {
    allocation* a = find_allocation(address);
    require(value != nullptr && a != nullptr && attribute == CU_POINTER_ATTRIBUTE_SYNC_MEMOPS);
    unsigned wanted = 0;
    std::memcpy(&wanted, value, sizeof wanted);
    a->sync_operations = wanted != 0;
  });
}

}  // namespace kaio::driver_emulator
