// Batches: several copies, or several operations on words of memory, that one call puts into a stream. If one of a
// batch is refused, none is put in. Source: CUDA driver API, cuMemcpyBatchAsync, cuMemcpy3DBatchAsync and
// cuStreamBatchMemOp.

#include "driver_emulator/graph/submission.hpp"
#include "driver_emulator/state/contexts.hpp"
#include "driver_emulator/state/copies.hpp"
#include "driver_emulator/state/entry.hpp"
#include "driver_emulator/state/memory_objects.hpp"
#include "driver_emulator/state/streams.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace kaio::driver_emulator {
namespace {

void check_order(CUmemcpySrcAccessOrder order, unsigned flags) {
  require(order >= CU_MEMCPY_SRC_ACCESS_ORDER_STREAM && order <= CU_MEMCPY_SRC_ACCESS_ORDER_ANY &&
          flags <= 1);
}

// A batch waits for nothing, so the stream must be one that has its own order.
std::shared_ptr<stream> stream_of_batch(CUstream handle) {
  std::shared_ptr<stream> s = find_stream(handle);
  require(s->kind != stream_kind::legacy);
  return s;
}

// Puts the copies into the stream. A source that may end with the call is read before the call returns.
void put(const std::vector<CUDA_MEMCPY3D>& copies, bool during_call, CUstream handle) {
  const std::shared_ptr<stream> s = stream_of_batch(handle);
  for (const CUDA_MEMCPY3D& c : copies) submit(s, copy_work{c}, CU_GRAPH_NODE_TYPE_MEMCPY);
  if (during_call && s->captured == nullptr) synchronize(s);
}

// The checks of each copy; `failed` becomes its number if it is refused.
template <class Make>
std::vector<CUDA_MEMCPY3D> checked_copies(std::size_t count, std::size_t* failed, Make make) {
  std::vector<CUDA_MEMCPY3D> copies;
  for (std::size_t i = 0; i < count; ++i) {
    if (failed != nullptr) *failed = i;
    copies.push_back(checked_copy(make(i)));
  }
  return copies;
}

void copy_batch(CUdeviceptr* to, CUdeviceptr* from, std::size_t* bytes, std::size_t count,
                CUmemcpyAttributes* attributes, std::size_t* first, std::size_t attribute_count,
                std::size_t* failed, CUstream handle) {
  if (failed != nullptr) *failed = SIZE_MAX;  // none in particular
  require(to != nullptr && from != nullptr && bytes != nullptr && count != 0);
  require(attributes != nullptr && first != nullptr && attribute_count != 0 && attribute_count <= count);
  bool during_call = false;
  for (std::size_t k = 0; k < attribute_count; ++k) {
    require(k == 0 ? first[0] == 0 : first[k] > first[k - 1] && first[k] < count);
    check_order(attributes[k].order, attributes[k].flags);
    during_call |= attributes[k].order == CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL;
  }
  put(checked_copies(count, failed,
                     [&](std::size_t i) {
                       require(bytes[i] != 0);
                       return linear_copy(CU_MEMORYTYPE_UNIFIED, to[i], CU_MEMORYTYPE_UNIFIED, from[i],
                                          bytes[i]);
                     }),
      during_call, handle);
}

std::size_t element_bytes(const CUmemcpy3DOperand& o) {
  return o.type == CU_MEMCPY_OPERAND_TYPE_ARRAY ? find_array(o.array.array)->element_bytes : 1;
}

// A pointer has rows of whole elements of the other side's array.
CUDA_MEMCPY3D box_of(const CUDA_MEMCPY3D_BATCH_OP& o) {
  const auto known = [](CUmemcpy3DOperandType t) {
    return t == CU_MEMCPY_OPERAND_TYPE_POINTER || t == CU_MEMCPY_OPERAND_TYPE_ARRAY;
  };
  require(known(o.source.type) && known(o.target.type) && o.width != 0 && o.height != 0 && o.depth != 0);
  const std::size_t element = std::max(element_bytes(o.source), element_bytes(o.target));
  CUDA_MEMCPY3D c{};
  c.width = o.width * element;
  c.height = o.height;
  c.depth = o.depth;
  if (o.source.type == CU_MEMCPY_OPERAND_TYPE_ARRAY) {
    c.source_type = CU_MEMORYTYPE_ARRAY;
    c.source_array = o.source.array.array;
    c.source_x = o.source.array.x * element;
    c.source_y = o.source.array.y;
    c.source_z = o.source.array.z;
  } else {
    c.source_type = CU_MEMORYTYPE_UNIFIED;
    c.source_device = o.source.pointer.address;
    c.source_pitch = (o.source.pointer.row_length != 0 ? o.source.pointer.row_length : o.width) * element;
    c.source_height = o.source.pointer.layer_height != 0 ? o.source.pointer.layer_height : o.height;
  }
  if (o.target.type == CU_MEMCPY_OPERAND_TYPE_ARRAY) {
    c.target_type = CU_MEMORYTYPE_ARRAY;
    c.target_array = o.target.array.array;
    c.target_x = o.target.array.x * element;
    c.target_y = o.target.array.y;
    c.target_z = o.target.array.z;
  } else {
    c.target_type = CU_MEMORYTYPE_UNIFIED;
    c.target_device = o.target.pointer.address;
    c.target_pitch = (o.target.pointer.row_length != 0 ? o.target.pointer.row_length : o.width) * element;
    c.target_height = o.target.pointer.layer_height != 0 ? o.target.pointer.layer_height : o.height;
  }
  return c;
}

void box_batch(std::size_t count, CUDA_MEMCPY3D_BATCH_OP* list, std::size_t* failed, unsigned long long flags,
               CUstream handle) {
  if (failed != nullptr) *failed = SIZE_MAX;
  require(count != 0 && list != nullptr && flags == 0);
  bool during_call = false;
  for (std::size_t i = 0; i < count; ++i)
    during_call |= list[i].order == CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL;
  put(checked_copies(count, failed,
                     [&](std::size_t i) {
                       check_order(list[i].order, list[i].flags);
                       return box_of(list[i]);
                     }),
      during_call, handle);
}

// One operation on a word; none for a barrier or a flush, since work of a stream is in order anyway.
std::vector<word_work> words_of(const CUstreamBatchMemOpParams& o) {
  const auto word = [&](unsigned bytes, bool waits) {
    require(o.address % bytes == 0 && is_device_range(o.address, bytes));
    const std::uint64_t value = bytes == 4 ? static_cast<std::uint32_t>(o.value) : o.value;
    return std::vector<word_work>{{o.address, value, bytes, o.flags, waits}};
  };
  switch (o.operation) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_32: return word(4, true);
    case CU_STREAM_MEM_OP_WRITE_VALUE_32: return word(4, false);
    case CU_STREAM_MEM_OP_WAIT_VALUE_64: return word(8, true);
    case CU_STREAM_MEM_OP_WRITE_VALUE_64: return word(8, false);
    case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES:
    case CU_STREAM_MEM_OP_BARRIER: return {};
  }
  refuse(CUDA_ERROR_INVALID_VALUE);
}

CUresult word_batch(function_id id, CUstream where, unsigned count, const CUstreamBatchMemOpParams* list,
                    unsigned flags) {
  constexpr unsigned most = 256;
  return call(id, [&] {
    require(count <= most && (count == 0 || list != nullptr) && flags == 0);
    const std::shared_ptr<stream> s = find_stream(where);
    std::vector<word_work> all;
    for (unsigned i = 0; i < count; ++i)
      for (const word_work& w : words_of(list[i])) all.push_back(w);
    for (const word_work& w : all) submit(s, w, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP);
  });
}

}  // namespace

CUresult cuMemcpyBatchAsync(CUdeviceptr* to, CUdeviceptr* from, std::size_t* bytes, std::size_t count,
                            CUmemcpyAttributes* attributes, std::size_t* first, std::size_t attribute_count,
                            std::size_t* failed, CUstream where) {
  return call(function_id::cuMemcpyBatchAsync, [&](context&) {
    copy_batch(to, from, bytes, count, attributes, first, attribute_count, failed, where);
  });
}
CUresult cuMemcpyBatchAsync_v2(CUdeviceptr* to, CUdeviceptr* from, std::size_t* bytes, std::size_t count,
                               CUmemcpyAttributes* attributes, std::size_t* first,
                               std::size_t attribute_count, CUstream where) {
  return call(function_id::cuMemcpyBatchAsync_v2, [&](context&) {
    copy_batch(to, from, bytes, count, attributes, first, attribute_count, nullptr, where);
  });
}
CUresult cuMemcpy3DBatchAsync(std::size_t count, CUDA_MEMCPY3D_BATCH_OP* list, std::size_t* failed,
                              unsigned long long flags, CUstream where) {
  return call(function_id::cuMemcpy3DBatchAsync,
              [&](context&) { box_batch(count, list, failed, flags, where); });
}
CUresult cuMemcpy3DBatchAsync_v2(std::size_t count, CUDA_MEMCPY3D_BATCH_OP* list, unsigned long long flags,
                                 CUstream where) {
  return call(function_id::cuMemcpy3DBatchAsync_v2,
              [&](context&) { box_batch(count, list, nullptr, flags, where); });
}
CUresult cuStreamBatchMemOp(CUstream where, unsigned count, CUstreamBatchMemOpParams* list, unsigned flags) {
  return word_batch(function_id::cuStreamBatchMemOp, where, count, list, flags);
}
CUresult cuStreamBatchMemOp_v2(CUstream where, unsigned count, CUstreamBatchMemOpParams* list,
                               unsigned flags) {
  return word_batch(function_id::cuStreamBatchMemOp_v2, where, count, list, flags);
}

}  // namespace kaio::driver_emulator
