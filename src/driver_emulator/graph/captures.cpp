#include "driver_emulator/graph/captures.hpp"

#include "driver_emulator/graph/graphs.hpp"
#include "driver_emulator/state/contexts.hpp"
#include "driver_emulator/state/entry.hpp"
#include "driver_emulator/state/streams.hpp"

#include <algorithm>
#include <set>

namespace kaio::driver_emulator {
namespace {

thread_local CUstreamCaptureMode thread_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;

// Visits the captures that have not ended.
template <class Visit>
void for_each_capture(Visit visit) {
  auto& captures = state().captures;
  std::erase_if(captures, [](const std::weak_ptr<capture>& known) {
    const auto c = known.lock();
    return c == nullptr || c->ended;
  });
  for (const auto& known : captures)
    if (const auto c = known.lock()) visit(*c);
}

bool is_in(const capture& c, const context& where) {
  const std::shared_ptr<stream> origin = c.origin.lock();
  return origin != nullptr && origin->owner.lock().get() == &where;
}

void check_valid(const capture& c) { require(c.valid, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED); }

template <class Visit>
void for_each_stream_of(const std::shared_ptr<capture>& c, Visit visit) {
  for (const auto& [handle, s] : state().streams.all())
    if (s->captured == c) visit(*s);
  for (const auto& [handle, owner] : state().contexts.all())
    for (const auto& [thread, s] : owner->per_thread)
      if (s->captured == c) visit(*s);
}

void merge(std::vector<CUgraphNode>& to, const std::vector<CUgraphNode>& more) {
  for (const CUgraphNode n : more)
    if (std::find(to.begin(), to.end(), n) == to.end()) to.push_back(n);
}

// The nodes and all their dependencies, direct or not.
std::set<CUgraphNode> all_before(const std::vector<CUgraphNode>& nodes) {
  std::set<CUgraphNode> before;
  std::vector<CUgraphNode> open = nodes;
  while (!open.empty()) {
    const CUgraphNode n = open.back();
    open.pop_back();
    if (!before.insert(n).second) continue;
    if (const auto known = state().nodes.find(n))
      open.insert(open.end(), known->after.begin(), known->after.end());
  }
  return before;
}

void begin(const std::shared_ptr<stream>& s, const std::shared_ptr<graph>& into, bool owns,
           std::vector<CUgraphNode> after, CUstreamCaptureMode mode) {
  require(mode >= CU_STREAM_CAPTURE_MODE_GLOBAL && mode <= CU_STREAM_CAPTURE_MODE_RELAXED);
  require(s->kind != stream_kind::legacy, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  require(s->captured == nullptr, CUDA_ERROR_ILLEGAL_STATE);
  auto c = std::make_shared<capture>();
  c->into = into;
  c->origin = s;
  c->mode = mode;
  c->thread = std::this_thread::get_id();
  c->id = ++state().last_id;
  c->owns_graph = owns;
  s->captured = c;
  s->capture_after = std::move(after);
  state().captures.push_back(c);
}

CUresult begin_capture(function_id id, CUstream handle, CUstreamCaptureMode mode) {
  return call(id, [&] {
    const std::shared_ptr<stream> s = find_stream(handle);
    require(s->captured == nullptr, CUDA_ERROR_ILLEGAL_STATE);
    require(s->kind != stream_kind::legacy, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    begin(s, make_graph(), true, {}, mode);
  });
}

CUstreamCaptureStatus status_of(const stream& s) {
  if (s.captured == nullptr) return CU_STREAM_CAPTURE_STATUS_NONE;
  return s.captured->valid ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_INVALIDATED;
}

CUresult capture_info(function_id id, CUstream handle, CUstreamCaptureStatus* status, std::uint64_t* number,
                      CUgraph* into, const CUgraphNode** after, std::size_t* count) {
  return call(id, [&] {
    require(status != nullptr);
    const std::shared_ptr<stream> s = find_stream(handle);
    *status = status_of(*s);
    if (*status != CU_STREAM_CAPTURE_STATUS_ACTIVE) return;
    if (number != nullptr) *number = s->captured->id;
    if (into != nullptr) *into = s->captured->into->handle;
    if (after != nullptr) *after = s->capture_after.data();
    if (count != nullptr) *count = s->capture_after.size();
  });
}

CUresult update_dependencies(function_id id, CUstream handle, const CUgraphNode* after, std::size_t count,
                             unsigned flags) {
  return call(id, [&] {
    require(flags <= 1 && (count == 0 || after != nullptr));
    const std::shared_ptr<stream> s = find_stream(handle);
    require(s->captured != nullptr, CUDA_ERROR_ILLEGAL_STATE);
    check_valid(*s->captured);
    std::vector<CUgraphNode> nodes;
    for (std::size_t i = 0; i < count; ++i) {
      require(graph_of(*find_node(after[i])) == s->captured->into);
      nodes.push_back(after[i]);
    }
    if (flags == 1) s->capture_after.clear();
    merge(s->capture_after, nodes);
  });
}

}  // namespace

void forbid_in_capture() {
  if (thread_mode == CU_STREAM_CAPTURE_MODE_RELAXED || is_made_to_fail()) return;
  bool forbidden = false;
  for_each_capture([&](capture& c) {
    const bool mine = c.thread == std::this_thread::get_id();
    const bool concerns = c.mode == CU_STREAM_CAPTURE_MODE_GLOBAL
                              ? mine || thread_mode == CU_STREAM_CAPTURE_MODE_GLOBAL
                              : c.mode == CU_STREAM_CAPTURE_MODE_THREAD_LOCAL && mine;
    if (!concerns) return;
    c.valid = false;
    forbidden = true;
  });
  require(!forbidden, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
}

void forbid_captured(const stream& s) {
  if (s.captured == nullptr) return;
  s.captured->valid = false;
  refuse(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
}

void forbid_captured(const context& where) {
  bool forbidden = false;
  for_each_capture([&](capture& c) {
    if (!is_in(c, where)) return;
    c.valid = false;
    forbidden = true;
  });
  require(!forbidden, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
}

void forbid_implicit_order(const context& where) {
  bool forbidden = false;
  for_each_capture([&](capture& c) {
    const std::shared_ptr<stream> origin = c.origin.lock();
    if (!is_in(c, where) || !origin->blocking() || c.mode == CU_STREAM_CAPTURE_MODE_RELAXED) return;
    c.valid = false;
    forbidden = true;
  });
  require(!forbidden, CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
}

void capture_work(stream& s, work what, CUgraphNodeType type) {
  check_valid(*s.captured);
  if (std::holds_alternative<callback_work>(what) || std::holds_alternative<word_work>(what)) {
    s.captured->valid = false;
    refuse(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  }
  const CUgraphNode n =
      add_node(*s.captured->into, type, std::move(what), s.capture_after.data(), s.capture_after.size());
  s.capture_after = {n};
}

void capture_record(stream& s, event& e) {
  check_valid(*s.captured);
  e.captured = s.captured;
  e.captured_nodes = s.capture_after;
}

bool capture_wait(const std::shared_ptr<stream>& s, event& e) {
  if (e.captured != nullptr && e.captured->ended) e.captured.reset();
  if (e.captured == nullptr) {
    if (s->captured == nullptr) return false;
    s->captured->valid = false;
    refuse(CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
  }
  check_valid(*e.captured);
  if (s->captured == nullptr) {
    require(s->kind != stream_kind::legacy, CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    s->captured = e.captured;
    s->capture_after.clear();
  } else if (s->captured != e.captured) {
    s->captured->valid = e.captured->valid = false;
    refuse(CUDA_ERROR_STREAM_CAPTURE_MERGE);
  }
  merge(s->capture_after, e.captured_nodes);
  return true;
}

void abandon_capture(const std::shared_ptr<stream>& s) {
  const std::shared_ptr<capture> c = std::move(s->captured);
  if (c == nullptr) return;
  const std::vector<CUgraphNode> last = std::move(s->capture_after);
  s->capture_after.clear();
  const std::shared_ptr<stream> origin = c->origin.lock();
  if (origin != s && origin != nullptr) {
    // A stream whose work the origin waits for is needed no longer.
    const std::set<CUgraphNode> joined = all_before(origin->capture_after);
    if (std::all_of(last.begin(), last.end(), [&](CUgraphNode n) { return joined.contains(n); })) return;
  }
  c->valid = false;
  if (origin != s) return;
  for_each_stream_of(c, [](stream& other) {
    other.captured.reset();
    other.capture_after.clear();
  });
  c->ended = true;
  const std::shared_ptr<graph> g = std::move(c->into);
  if (c->owns_graph) destroy_graph(g);
}

void abandon_captures(const context& c) {
  std::vector<std::shared_ptr<stream>> all = c.streams;  // a graph that goes may call the program
  for (const auto& [thread, s] : c.per_thread) all.push_back(s);
  for (const std::shared_ptr<stream>& s : all) abandon_capture(s);
}

CUresult cuStreamBeginCapture(CUstream s) {
  return begin_capture(function_id::cuStreamBeginCapture, s, CU_STREAM_CAPTURE_MODE_GLOBAL);
}
CUresult cuStreamBeginCapture_v2(CUstream s, CUstreamCaptureMode mode) {
  return begin_capture(function_id::cuStreamBeginCapture_v2, s, mode);
}
CUresult cuStreamBeginCaptureToGraph(CUstream handle, CUgraph into, const CUgraphNode* after,
                                     const CUgraphEdgeData*, std::size_t count, CUstreamCaptureMode mode) {
  return call(function_id::cuStreamBeginCaptureToGraph, [&] {
    const std::shared_ptr<graph> g = find_graph(into);
    require(count == 0 || after != nullptr);
    std::vector<CUgraphNode> nodes;
    for (std::size_t i = 0; i < count; ++i) {
      require(graph_of(*find_node(after[i])) == g);
      nodes.push_back(after[i]);
    }
    begin(find_stream(handle), g, false, std::move(nodes), mode);
  });
}

CUresult cuStreamEndCapture(CUstream handle, CUgraph* to) {
  return call(function_id::cuStreamEndCapture, [&] {
    const std::shared_ptr<stream> s = find_stream(handle);
    require(to != nullptr);
    *to = nullptr;
    const std::shared_ptr<capture> c = s->captured;
    require(c != nullptr, CUDA_ERROR_ILLEGAL_STATE);
    if (c->origin.lock() != s) {
      c->valid = false;
      refuse(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
    }
    const bool own_thread =
        c->mode == CU_STREAM_CAPTURE_MODE_RELAXED || c->thread == std::this_thread::get_id();
    // Work of other streams must come before the last work of the stream that began the capture.
    const std::set<CUgraphNode> joined = all_before(s->capture_after);
    bool unjoined = false;
    for_each_stream_of(c, [&](stream& other) {
      for (const CUgraphNode n : other.capture_after) unjoined |= !joined.contains(n);
      if (&other != s.get()) {
        other.captured.reset();
        other.capture_after.clear();
      }
    });
    s->captured.reset();
    s->capture_after.clear();
    c->ended = true;
    const std::shared_ptr<graph> g = std::move(c->into);
    const bool good = c->valid && !unjoined && own_thread;
    if (!good && c->owns_graph) destroy_graph(g);
    require(own_thread, CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
    require(c->valid, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    require(!unjoined, CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
    *to = g->handle;
  });
}

CUresult cuStreamIsCapturing(CUstream handle, CUstreamCaptureStatus* status) {
  return call(function_id::cuStreamIsCapturing, [&] {
    require(status != nullptr);
    const std::shared_ptr<stream> s = find_stream(handle);
    if (s->kind == stream_kind::legacy)
      for_each_capture([&](const capture& c) {
        const std::shared_ptr<stream> origin = c.origin.lock();
        require(origin == nullptr || origin->owner.lock() != s->owner.lock() || !origin->blocking(),
                CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
      });
    *status = status_of(*s);
  });
}
CUresult cuStreamGetCaptureInfo(CUstream s, CUstreamCaptureStatus* status, std::uint64_t* number) {
  return capture_info(function_id::cuStreamGetCaptureInfo, s, status, number, nullptr, nullptr, nullptr);
}
CUresult cuStreamGetCaptureInfo_v2(CUstream s, CUstreamCaptureStatus* status, std::uint64_t* number,
                                   CUgraph* into, const CUgraphNode** after, std::size_t* count) {
  return capture_info(function_id::cuStreamGetCaptureInfo_v2, s, status, number, into, after, count);
}
CUresult cuStreamGetCaptureInfo_v3(CUstream s, CUstreamCaptureStatus* status, std::uint64_t* number,
                                   CUgraph* into, const CUgraphNode** after, const CUgraphEdgeData** edges,
                                   std::size_t* count) {
  if (edges != nullptr) *edges = nullptr;  // no edge has data of its own
  return capture_info(function_id::cuStreamGetCaptureInfo_v3, s, status, number, into, after, count);
}
CUresult cuStreamUpdateCaptureDependencies(CUstream s, CUgraphNode* after, std::size_t count,
                                           unsigned flags) {
  return update_dependencies(function_id::cuStreamUpdateCaptureDependencies, s, after, count, flags);
}
CUresult cuStreamUpdateCaptureDependencies_v2(CUstream s, CUgraphNode* after, const CUgraphEdgeData*,
                                              std::size_t count, unsigned flags) {
  return update_dependencies(function_id::cuStreamUpdateCaptureDependencies_v2, s, after, count, flags);
}

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  return call(function_id::cuThreadExchangeStreamCaptureMode, [&] {
    require(mode != nullptr && *mode >= CU_STREAM_CAPTURE_MODE_GLOBAL &&
            *mode <= CU_STREAM_CAPTURE_MODE_RELAXED);
    std::swap(*mode, thread_mode);
  });
}

}  // namespace kaio::driver_emulator
