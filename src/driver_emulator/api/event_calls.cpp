// The driver's functions on events.

#include "driver_emulator/graph/captures.hpp"
#include "driver_emulator/graph/submission.hpp"
#include "driver_emulator/state/contexts.hpp"
#include "driver_emulator/state/entry.hpp"
#include "driver_emulator/state/streams.hpp"

#include <algorithm>

namespace kaio::driver_emulator {
namespace {

std::shared_ptr<event> find_event(CUevent handle) {
  std::shared_ptr<event> e = state().events.find(handle);
  require(e != nullptr, CUDA_ERROR_INVALID_HANDLE);
  return e;
}

// Throws failure if the event's context is destroyed, or if a kernel has failed in it.
void check_lost(const event& e) {
  const std::shared_ptr<context> c = e.owner.lock();
  require(c != nullptr, CUDA_ERROR_CONTEXT_IS_DESTROYED);
  if (c->lost != CUDA_SUCCESS) refuse(c->lost);
}

void forbid_captured_event(event& e) {
  if (e.captured == nullptr) return;
  e.captured->valid = false;
  refuse(CUDA_ERROR_CAPTURED_EVENT);
}

CUresult destroy_event(function_id id, CUevent handle) {
  return release_call(id, [&] {
    const std::shared_ptr<event> e = state().events.take(handle);
    require(e != nullptr, CUDA_ERROR_INVALID_HANDLE);
    check_lost(*e);
  });
}

CUresult record(function_id id, CUevent handle, CUstream where, unsigned flags) {
  return call(id, [&] {
    require(flags <= 1);
    const std::shared_ptr<event> e = find_event(handle);
    const std::shared_ptr<stream> s = find_stream(where);
    require(e->owner.lock() == s->owner.lock(), CUDA_ERROR_INVALID_HANDLE);
    if (s->captured != nullptr && flags == 0) return capture_record(*s, *e);
    submit(s, record_work{e}, CU_GRAPH_NODE_TYPE_EVENT_RECORD);
  });
}

CUresult elapsed(function_id id, float* milliseconds, CUevent begin, CUevent end) {
  return call(id, [&] {
    require(milliseconds != nullptr);
    const std::shared_ptr<event> first = find_event(begin), last = find_event(end);
    check_lost(*first);
    require(((first->flags | last->flags) & CU_EVENT_DISABLE_TIMING) == 0, CUDA_ERROR_INVALID_HANDLE);
    require(first->recorded && last->recorded, CUDA_ERROR_INVALID_HANDLE);
    require(first->is_done() && last->is_done(), CUDA_ERROR_NOT_READY);
    *milliseconds = std::chrono::duration<float, std::milli>(last->when - first->when).count();
  });
}

}  // namespace

CUresult cuEventCreate(CUevent* created, unsigned flags) {
  return call(function_id::cuEventCreate, [&](context& c) {
    constexpr unsigned known = CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS;
    require(created != nullptr && (flags & ~known) == 0);
    require((flags & CU_EVENT_INTERPROCESS) == 0 || (flags & CU_EVENT_DISABLE_TIMING) != 0);
    auto e = std::make_shared<event>();
    e->owner = state().contexts.find(c.handle);
    e->flags = flags;
    *created = state().events.add(std::move(e));
  });
}
CUresult cuEventDestroy(CUevent handle) { return destroy_event(function_id::cuEventDestroy, handle); }
CUresult cuEventDestroy_v2(CUevent handle) { return destroy_event(function_id::cuEventDestroy_v2, handle); }

CUresult cuEventRecord(CUevent handle, CUstream where) {
  return record(function_id::cuEventRecord, handle, where, 0);
}
CUresult cuEventRecordWithFlags(CUevent handle, CUstream where, unsigned flags) {
  return record(function_id::cuEventRecordWithFlags, handle, where, flags);
}

// As in cuStreamQuery, the remaining work runs now, and the next query reports it.
CUresult cuEventQuery(CUevent handle) {
  return call(function_id::cuEventQuery, [&]() -> CUresult {
    const std::shared_ptr<event> e = find_event(handle);
    forbid_captured_event(*e);
    forbid_in_capture();
    check_lost(*e);
    if (e->is_done()) return CUDA_SUCCESS;
    run_until({e->point}, false);
    return CUDA_ERROR_NOT_READY;
  });
}

CUresult cuEventSynchronize(CUevent handle) {
  return release_call(function_id::cuEventSynchronize, [&] {
    const std::shared_ptr<event> e = find_event(handle);
    forbid_captured_event(*e);
    forbid_in_capture();
    if (!e->is_done()) run_until({e->point}, true);
    state().memory.note_host_step();
    check_lost(*e);
  });
}

CUresult cuEventElapsedTime(float* milliseconds, CUevent begin, CUevent end) {
  return elapsed(function_id::cuEventElapsedTime, milliseconds, begin, end);
}
CUresult cuEventElapsedTime_v2(float* milliseconds, CUevent begin, CUevent end) {
  return elapsed(function_id::cuEventElapsedTime_v2, milliseconds, begin, end);
}

// Records all work of a context as one event.
CUresult cuCtxRecordEvent(CUcontext in, CUevent handle) {
  return call(function_id::cuCtxRecordEvent, [&] {
    const std::shared_ptr<context> c = context_or_current(in);
    const std::shared_ptr<event> e = find_event(handle);
    require(e->owner.lock() == c, CUDA_ERROR_INVALID_HANDLE);
    forbid_captured(*c);
    drain(*c);
    submit(legacy_stream_of(*c), record_work{e}, CU_GRAPH_NODE_TYPE_EVENT_RECORD);
  });
}
CUresult cuCtxWaitEvent(CUcontext in, CUevent handle) {
  return call(function_id::cuCtxWaitEvent, [&] {
    const std::shared_ptr<context> c = context_or_current(in);
    const std::shared_ptr<event> e = find_event(handle);
    forbid_captured(*c);
    if (!e->is_done()) run_until({e->point}, true);
  });
}

}  // namespace kaio::driver_emulator
