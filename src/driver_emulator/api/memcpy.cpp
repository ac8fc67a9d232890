// The driver's copies. Each is a box (copies.hpp) that is put into a stream. Copies without a stream go into the
// default one, and wait for it if host memory takes part.

#include "driver_emulator/graph/submission.hpp"
#include "driver_emulator/state/contexts.hpp"
#include "driver_emulator/state/copies.hpp"
#include "driver_emulator/state/entry.hpp"
#include "driver_emulator/state/memory_objects.hpp"
#include "driver_emulator/state/streams.hpp"

namespace kaio::driver_emulator {
namespace {

CUdeviceptr number_of(const void* host) { return reinterpret_cast<std::uintptr_t>(host); }

constexpr CUmemorytype host = CU_MEMORYTYPE_HOST, on_device = CU_MEMORYTYPE_DEVICE,
                       unified = CU_MEMORYTYPE_UNIFIED;

void put(const CUDA_MEMCPY3D& shape, CUstream where) {
  submit(find_stream(where), copy_work{checked_copy(shape)}, CU_GRAPH_NODE_TYPE_MEMCPY);
}

// The host does not wait for copies between device buffers, unless the memory asks for it.
void put_in_default(const CUDA_MEMCPY3D& shape) {
  const CUDA_MEMCPY3D checked = checked_copy(shape);
  const auto waits = [](CUmemorytype type, CUdeviceptr address) {
    const allocation* a = find_allocation(address);
    return type == host || (a != nullptr && (a->sync_operations || a->host != nullptr));
  };
  const std::shared_ptr<stream> where = find_stream(nullptr);
  if (waits(checked.source_type, checked.source_device) || waits(checked.target_type, checked.target_device))
    submit_and_wait(where, copy_work{checked});
  else
    submit(where, copy_work{checked}, CU_GRAPH_NODE_TYPE_MEMCPY);
}

// One side of a copy of consecutive bytes: an array from an offset on, or the memory at an address.
struct end_of_copy {
  CUmemorytype type;
  CUdeviceptr address = 0;
  CUarray in = nullptr;
  std::size_t offset = 0;
};
end_of_copy in_array(CUarray a, std::size_t offset) { return {CU_MEMORYTYPE_ARRAY, 0, a, offset}; }

CUDA_MEMCPY3D array_copy(const end_of_copy& to, const end_of_copy& from, std::size_t bytes) {
  CUDA_MEMCPY3D c = linear_copy(to.type, to.address, from.type, from.address, bytes);
  c.source_array = from.in;
  c.source_x = from.offset;
  c.target_array = to.in;
  c.target_x = to.offset;
  return c;
}

void check_peers(CUcontext to, CUcontext from) {
  find_context(to);
  find_context(from);
}

}  // namespace

CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
  return call(function_id::cuMemcpy,
              [&](context&) { put_in_default(linear_copy(unified, to, unified, from, bytes)); });
}
CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream where) {
  return call(function_id::cuMemcpyAsync,
              [&](context&) { put(linear_copy(unified, to, unified, from, bytes), where); });
}
CUresult cuMemcpyPeer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context,
                      std::size_t bytes) {
  return call(function_id::cuMemcpyPeer, [&](context&) {
    check_peers(to_context, from_context);
    put_in_default(linear_copy(on_device, to, on_device, from, bytes));
  });
}
CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context,
                           std::size_t bytes, CUstream where) {
  return call(function_id::cuMemcpyPeerAsync, [&](context&) {
    check_peers(to_context, from_context);
    put(linear_copy(on_device, to, on_device, from, bytes), where);
  });
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void* from, std::size_t bytes) {
  return call(function_id::cuMemcpyHtoD_v2,
              [&](context&) { put_in_default(linear_copy(on_device, to, host, number_of(from), bytes)); });
}
CUresult cuMemcpyDtoH_v2(void* to, CUdeviceptr from, std::size_t bytes) {
  return call(function_id::cuMemcpyDtoH_v2,
              [&](context&) { put_in_default(linear_copy(host, number_of(to), on_device, from, bytes)); });
}
CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
  return call(function_id::cuMemcpyDtoD_v2,
              [&](context&) { put_in_default(linear_copy(on_device, to, on_device, from, bytes)); });
}
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, std::size_t bytes, CUstream where) {
  return call(function_id::cuMemcpyHtoDAsync_v2,
              [&](context&) { put(linear_copy(on_device, to, host, number_of(from), bytes), where); });
}
CUresult cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, std::size_t bytes, CUstream where) {
  return call(function_id::cuMemcpyDtoHAsync_v2,
              [&](context&) { put(linear_copy(host, number_of(to), on_device, from, bytes), where); });
}
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream where) {
  return call(function_id::cuMemcpyDtoDAsync_v2,
              [&](context&) { put(linear_copy(on_device, to, on_device, from, bytes), where); });
}

CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D* rows) {
  return call(function_id::cuMemcpy2D_v2, [&](context&) {
    require(rows != nullptr);
    put_in_default(box_of(*rows));
  });
}
CUresult cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D* rows) {
  return call(function_id::cuMemcpy2DUnaligned_v2, [&](context&) {
    require(rows != nullptr);
    put_in_default(box_of(*rows));
  });
}
CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D* rows, CUstream where) {
  return call(function_id::cuMemcpy2DAsync_v2, [&](context&) {
    require(rows != nullptr);
    put(box_of(*rows), where);
  });
}
CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D* box) {
  return call(function_id::cuMemcpy3D_v2, [&](context&) {
    require(box != nullptr);
    put_in_default(*box);
  });
}
CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D* box, CUstream where) {
  return call(function_id::cuMemcpy3DAsync_v2, [&](context&) {
    require(box != nullptr);
    put(*box, where);
  });
}
CUresult cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER* box) {
  return call(function_id::cuMemcpy3DPeer, [&](context&) {
    require(box != nullptr);
    check_peers(box->target_context, box->source_context);
    put_in_default(box_of(*box));
  });
}
CUresult cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER* box, CUstream where) {
  return call(function_id::cuMemcpy3DPeerAsync, [&](context&) {
    require(box != nullptr);
    check_peers(box->target_context, box->source_context);
    put(box_of(*box), where);
  });
}

CUresult cuMemcpyAtoA_v2(CUarray to, std::size_t to_offset, CUarray from, std::size_t from_offset,
                         std::size_t bytes) {
  return call(function_id::cuMemcpyAtoA_v2, [&](context&) {
    put_in_default(array_copy(in_array(to, to_offset), in_array(from, from_offset), bytes));
  });
}
CUresult cuMemcpyAtoD_v2(CUdeviceptr to, CUarray from, std::size_t offset, std::size_t bytes) {
  return call(function_id::cuMemcpyAtoD_v2, [&](context&) {
    put_in_default(array_copy({on_device, to, nullptr, 0}, in_array(from, offset), bytes));
  });
}
CUresult cuMemcpyDtoA_v2(CUarray to, std::size_t offset, CUdeviceptr from, std::size_t bytes) {
  return call(function_id::cuMemcpyDtoA_v2, [&](context&) {
    put_in_default(array_copy(in_array(to, offset), {on_device, from, nullptr, 0}, bytes));
  });
}
CUresult cuMemcpyAtoH_v2(void* to, CUarray from, std::size_t offset, std::size_t bytes) {
  return call(function_id::cuMemcpyAtoH_v2, [&](context&) {
    put_in_default(array_copy({host, number_of(to), nullptr, 0}, in_array(from, offset), bytes));
  });
}
CUresult cuMemcpyHtoA_v2(CUarray to, std::size_t offset, const void* from, std::size_t bytes) {
  return call(function_id::cuMemcpyHtoA_v2, [&](context&) {
    put_in_default(array_copy(in_array(to, offset), {host, number_of(from), nullptr, 0}, bytes));
  });
}
CUresult cuMemcpyAtoHAsync_v2(void* to, CUarray from, std::size_t offset, std::size_t bytes, CUstream where) {
  return call(function_id::cuMemcpyAtoHAsync_v2, [&](context&) {
    put(array_copy({host, number_of(to), nullptr, 0}, in_array(from, offset), bytes), where);
  });
}
CUresult cuMemcpyHtoAAsync_v2(CUarray to, std::size_t offset, const void* from, std::size_t bytes,
                              CUstream where) {
  return call(function_id::cuMemcpyHtoAAsync_v2, [&](context&) {
    put(array_copy(in_array(to, offset), {host, number_of(from), nullptr, 0}, bytes), where);
  });
}

// Fills. Those without a stream go into the default one, and the host does not wait for them.

#define KAIO_CUDA_FILL(bits, value_type)                                                                    \
  CUresult cuMemsetD##bits##_v2(CUdeviceptr to, value_type value, std::size_t count) {                      \
    return call(function_id::cuMemsetD##bits##_v2,                                                          \
                [&](context&) { put_fill(to, 0, value, bits / 8, count, 1, nullptr); });                    \
  }                                                                                                         \
  CUresult cuMemsetD##bits##Async(CUdeviceptr to, value_type value, std::size_t count, CUstream where) {    \
    return call(function_id::cuMemsetD##bits##Async,                                                        \
                [&](context&) { put_fill(to, 0, value, bits / 8, count, 1, where); });                      \
  }                                                                                                         \
  CUresult cuMemsetD2D##bits##_v2(CUdeviceptr to, std::size_t pitch, value_type value, std::size_t width,   \
                                  std::size_t height) {                                                     \
    return call(function_id::cuMemsetD2D##bits##_v2,                                                        \
                [&](context&) { put_fill(to, pitch, value, bits / 8, width, height, nullptr); });           \
  }                                                                                                         \
  CUresult cuMemsetD2D##bits##Async(CUdeviceptr to, std::size_t pitch, value_type value, std::size_t width, \
                                    std::size_t height, CUstream where) {                                   \
    return call(function_id::cuMemsetD2D##bits##Async,                                                      \
                [&](context&) { put_fill(to, pitch, value, bits / 8, width, height, where); });             \
  }

static void put_fill(CUdeviceptr to, std::size_t pitch, unsigned value, unsigned element_size,
                     std::size_t width, std::size_t height, CUstream where) {
  const CUDA_MEMSET_NODE_PARAMS shape{to, pitch, value, element_size, width, height};
  submit(find_stream(where), fill_work{checked_fill(shape)}, CU_GRAPH_NODE_TYPE_MEMSET);
}

KAIO_CUDA_FILL(8, unsigned char)
KAIO_CUDA_FILL(16, unsigned short)
KAIO_CUDA_FILL(32, unsigned)

}  // namespace kaio::driver_emulator
