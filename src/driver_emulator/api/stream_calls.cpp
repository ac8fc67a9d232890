// The driver's functions on streams.

#include "driver_emulator/graph/captures.hpp"
#include "driver_emulator/graph/submission.hpp"
#include "driver_emulator/state/contexts.hpp"
#include "driver_emulator/state/entry.hpp"
#include "driver_emulator/state/fault_injection.hpp"
#include "driver_emulator/state/memory_objects.hpp"
#include "driver_emulator/state/streams.hpp"

#include <algorithm>

namespace kaio::driver_emulator {
namespace {

constexpr int least_priority = 0, greatest_priority = -5;

void put_word(CUstream where, CUdeviceptr address, std::uint64_t value, unsigned bytes, unsigned flags,
              bool waits) {
  require(address % bytes == 0 && is_device_range(address, bytes));
  submit(find_stream(where), word_work{address, value, bytes, flags, waits}, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP);
}

CUresult destroy_stream(function_id id, CUstream handle) {
  return release_call(id, [&] {
    require(reinterpret_cast<std::uintptr_t>(handle) > per_thread_stream, CUDA_ERROR_INVALID_HANDLE);
    const std::shared_ptr<stream> s = state().streams.take(handle);
    require(s != nullptr, CUDA_ERROR_INVALID_HANDLE);
    abandon_capture(s);
    const std::shared_ptr<context> c = s->owner.lock();
    if (c == nullptr) return;
    // A stream with work left stays until that is done.
    if (s->items.empty()) std::erase(c->streams, s);
    if (c->lost != CUDA_SUCCESS) refuse(c->lost);
  });
}

}  // namespace

CUresult cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  return call(function_id::cuCtxGetStreamPriorityRange, [&](context&) {
    if (least != nullptr) *least = least_priority;
    if (greatest != nullptr) *greatest = greatest_priority;
  });
}

CUresult cuStreamCreate(CUstream* created, unsigned flags) {
  return call(function_id::cuStreamCreate, [&](context& c) {
    require(created != nullptr && flags <= CU_STREAM_NON_BLOCKING);
    *created = make_stream(c, flags, 0)->handle;
  });
}
CUresult cuStreamCreateWithPriority(CUstream* created, unsigned flags, int priority) {
  return call(function_id::cuStreamCreateWithPriority, [&](context& c) {
    require(created != nullptr && flags <= CU_STREAM_NON_BLOCKING);
    *created = make_stream(c, flags, std::clamp(priority, greatest_priority, least_priority))->handle;
  });
}
CUresult cuStreamDestroy(CUstream handle) { return destroy_stream(function_id::cuStreamDestroy, handle); }
CUresult cuStreamDestroy_v2(CUstream handle) {
  return destroy_stream(function_id::cuStreamDestroy_v2, handle);
}

CUresult cuStreamSynchronize(CUstream handle) {
  return release_call(function_id::cuStreamSynchronize, [&] {
    const std::shared_ptr<stream> s = find_stream(handle);
    forbid_captured(*s);
    forbid_in_capture();
    synchronize(s);
  });
}

// A query runs the remaining work, but only the next query reports that: a program that does not query again
// has not waited.
CUresult cuStreamQuery(CUstream handle) {
  return call(function_id::cuStreamQuery, [&]() -> CUresult {
    const std::shared_ptr<stream> s = find_stream(handle);
    forbid_captured(*s);
    forbid_in_capture();
    if (s->items.empty()) return CUDA_SUCCESS;
    run_until({{s, s->last}}, false);
    return CUDA_ERROR_NOT_READY;
  });
}

CUresult cuStreamWaitEvent(CUstream handle, CUevent waited, unsigned flags) {
  return call(function_id::cuStreamWaitEvent, [&] {
    require(flags <= 1);
    const std::shared_ptr<event> e = state().events.find(waited);
    require(e != nullptr, CUDA_ERROR_INVALID_HANDLE);
    const std::shared_ptr<stream> s = find_stream(handle);
    if (flags == 1 && s->captured != nullptr)  // CU_EVENT_WAIT_EXTERNAL
      return capture_work(*s, wait_work{e}, CU_GRAPH_NODE_TYPE_WAIT_EVENT);
    if (capture_wait(s, *e) || e->is_done()) return;
    submit(s, wait_work{e}, CU_GRAPH_NODE_TYPE_WAIT_EVENT);
  });
}

CUresult cuStreamAddCallback(CUstream handle, CUstreamCallback callback, void* data, unsigned flags) {
  return call(function_id::cuStreamAddCallback, [&] {
    require(callback != nullptr && flags == 0);
    const std::shared_ptr<stream> s = find_stream(handle);
    require(s->captured == nullptr, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    submit(s, callback_work{callback, data, handle}, CU_GRAPH_NODE_TYPE_HOST);
  });
}
CUresult cuLaunchHostFunc(CUstream handle, CUhostFn callback, void* data) {
  return call(function_id::cuLaunchHostFunc, [&] {
    require(callback != nullptr);
    submit(find_stream(handle), host_work{callback, data}, CU_GRAPH_NODE_TYPE_HOST);
  });
}

CUresult cuStreamGetPriority(CUstream handle, int* priority) {
  return call(function_id::cuStreamGetPriority, [&] {
    require(priority != nullptr);
    *priority = find_stream(handle)->priority;
  });
}
CUresult cuStreamGetFlags(CUstream handle, unsigned* flags) {
  return call(function_id::cuStreamGetFlags, [&] {
    require(flags != nullptr);
    *flags = find_stream(handle)->flags;
  });
}
CUresult cuStreamGetId(CUstream handle, unsigned long long* id) {
  return call(function_id::cuStreamGetId, [&] {
    require(id != nullptr);
    *id = find_stream(handle)->id;
  });
}
CUresult cuStreamGetDevice(CUstream handle, CUdevice* where) {
  return call(function_id::cuStreamGetDevice, [&] {
    require(where != nullptr);
    *where = find_stream(handle)->owner.lock()->where->ordinal;
  });
}
CUresult cuStreamGetCtx(CUstream handle, CUcontext* owner) {
  return call(function_id::cuStreamGetCtx, [&] {
    require(owner != nullptr);
    *owner = find_stream(handle)->owner.lock()->handle;
  });
}

CUresult cuStreamGetCtx_v2(CUstream handle, CUcontext* owner, CUgreenCtx* green) {
  return call(function_id::cuStreamGetCtx_v2, [&] {
    require(owner != nullptr);
    *owner = find_stream(handle)->owner.lock()->handle;
    if (green != nullptr) *green = nullptr;  // no stream belongs to one
  });
}

CUresult cuStreamCopyAttributes(CUstream to, CUstream from) {
  return call(function_id::cuStreamCopyAttributes,
              [&] { find_stream(to)->attributes = find_stream(from)->attributes; });
}
CUresult cuStreamGetAttribute(CUstream handle, CUlaunchAttributeID attribute, CUlaunchAttributeValue* value) {
  return call(function_id::cuStreamGetAttribute, [&] {
    require(value != nullptr);
    const std::shared_ptr<stream> s = find_stream(handle);
    const auto known = s->attributes.find(attribute);
    *value = known != s->attributes.end() ? known->second : CUlaunchAttributeValue{};
    if (attribute == CU_LAUNCH_ATTRIBUTE_PRIORITY) value->priority = s->priority;
  });
}
CUresult cuStreamSetAttribute(CUstream handle, CUlaunchAttributeID attribute,
                              const CUlaunchAttributeValue* value) {
  return call(function_id::cuStreamSetAttribute, [&] {
    require(value != nullptr);
    require(attribute == CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW ||
            attribute == CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY ||
            attribute == CU_LAUNCH_ATTRIBUTE_PRIORITY ||
            attribute == CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP ||
            attribute == CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN);
    const std::shared_ptr<stream> s = find_stream(handle);
    s->attributes[attribute] = *value;
    if (attribute == CU_LAUNCH_ATTRIBUTE_PRIORITY) s->priority = value->priority;
  });
}

// The first form of each of these existed before programs had to ask for the second; both do the same.
#define KAIO_CUDA_WORD(name, value_type, waits)                                           \
  CUresult name(CUstream where, CUdeviceptr address, value_type value, unsigned flags) {  \
    return call(function_id::name, [&] {                                                  \
      put_word(where, address, value, static_cast<unsigned>(sizeof value), flags, waits); \
    });                                                                                   \
  }
KAIO_CUDA_WORD(cuStreamWriteValue32, std::uint32_t, false)
KAIO_CUDA_WORD(cuStreamWriteValue32_v2, std::uint32_t, false)
KAIO_CUDA_WORD(cuStreamWriteValue64, std::uint64_t, false)
KAIO_CUDA_WORD(cuStreamWriteValue64_v2, std::uint64_t, false)
KAIO_CUDA_WORD(cuStreamWaitValue32, std::uint32_t, true)
KAIO_CUDA_WORD(cuStreamWaitValue32_v2, std::uint32_t, true)
KAIO_CUDA_WORD(cuStreamWaitValue64, std::uint64_t, true)
KAIO_CUDA_WORD(cuStreamWaitValue64_v2, std::uint64_t, true)

}  // namespace kaio::driver_emulator
