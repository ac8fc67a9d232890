// Streams, events, captures and graphs of the emulator. Captures follow the driver's rules, so that a mistake shows
// without a GPU. Source: CUDA driver API, "Stream Management", cuStreamBeginCapture.

#include <kaio/runtime/error.hpp>

#include <algorithm>

#include "emulator/waiting/memory_activity.hpp"
#include "runtime/base/failure.hpp"
#include "runtime/base/text.hpp"
#include "runtime/emulator/emulator_backend.hpp"

namespace kaio::runtime {

namespace {

using clock = std::chrono::steady_clock;
using emulated::node_kind;

emulated::event& event_of(void* native) { return *static_cast<emulated::event*>(native); }
emulated::graph& graph_of(void* native) { return *static_cast<emulated::graph*>(native); }
emulated::executable& executable_of(void* native) { return *static_cast<emulated::executable*>(native); }

}  // namespace

void emulator_backend::refuse_in_capture(emulated::capture& c, std::string_view what, std::string_view why,
                                         std::string_view what_to_do) {
  const std::string message = text("kaio: ", what, ' ', description_, " failed: ", why, "; ", what_to_do);
  if (c.mistake.empty()) c.mistake = message;
  throw stream_capturing(message);
}

// Streams.

emulated::stream& emulator_backend::live(native_stream stream) {
  if (stream == &legacy_stream_) return legacy_stream_;
  if (stream == &per_thread_stream_) return per_thread_stream_;
  const auto found = streams_.find(stream);
  if (found == streams_.end())
    throw invalid_argument(
        text("kaio: a stream on ", description_,
             " is not valid: its owner destroyed it; keep what is lent to kaio alive while "
             "kaio uses it"));
  return *found->second;
}

backend::native_stream emulator_backend::create_stream(int) {
  auto fresh = std::make_unique<emulated::stream>();
  void* const handle = fresh.get();
  const std::scoped_lock lock(streams_changing_);
  streams_.emplace(handle, std::move(fresh));
  return handle;
}

backend::native_stream emulator_backend::borrowed_stream(void* handle) {
  const auto number = reinterpret_cast<std::uintptr_t>(handle);
  if (number <= 1) return &legacy_stream_;      // null, CU_STREAM_LEGACY
  if (number == 2) return &per_thread_stream_;  // CU_STREAM_PER_THREAD
  const std::scoped_lock lock(streams_changing_);
  if (handle == &legacy_stream_ || handle == &per_thread_stream_ || streams_.contains(handle)) return handle;
  throw invalid_argument(text("kaio: ", hexadecimal(number), " is no stream of ", description_,
                              ": its owner destroyed it, or it is of another device; borrow a live stream of "
                              "this device, or null"));
}

void emulator_backend::destroy_stream(native_stream stream) noexcept {
  const std::scoped_lock lock(streams_changing_);
  const auto found = streams_.find(stream);
  if (found == streams_.end()) return;
  emulated::stream& s = *found->second;
  if (const auto c = s.captured; c != nullptr) {
    std::erase(c->streams, &s);
    // The end of the stream that a capture began on is the end of the capture.
    if (c->origin == &s)
      for (emulated::stream* other : c->streams) other->captured = nullptr, other->last.clear();
  }
  std::erase_if(abandoned_, [](const auto& q) { return q->is_idle(); });
  if (!s.queue->is_idle()) abandoned_.push_back(s.queue);
  streams_.erase(found);
}

void emulator_backend::submit(native_stream stream, node_kind kind, std::function<void()> run) {
  if (captured(stream, kind, [&] { return run; })) return;
  if (queue_of(stream)->put(run)) return;
  const emulator::memory_activity::running work;
  run();
}

std::shared_ptr<emulated::work_queue> emulator_backend::queue_of(native_stream stream) {
  const std::scoped_lock lock(streams_changing_);
  return live(stream).queue;
}

std::vector<std::shared_ptr<emulated::work_queue>> emulator_backend::busy() {
  const std::scoped_lock lock(streams_changing_);
  std::vector<std::shared_ptr<emulated::work_queue>> all = abandoned_;
  for (const auto& [handle, s] : streams_) all.push_back(s->queue);
  all.push_back(legacy_stream_.queue);
  all.push_back(per_thread_stream_.queue);
  return all;
}

void emulator_backend::run_or_poll(native_stream stream, std::function<void()> work) {
  const auto queue = queue_of(stream);
  if (queue->put(work)) return;
  if (others_may_write()) return queue->run(std::move(work));
  work();
}

void emulator_backend::drain() noexcept {
  for (const auto& q : busy()) q->wait();
}

void emulator_backend::drain(native_stream stream) noexcept {
  try {
    queue_of(stream)->wait();
  } catch (const error&) {
    // The stream is gone: nothing of it is left to wait for.
  }
}

void emulator_backend::call_host(native_stream stream, host_function function, void* data) {
  submit(stream, node_kind::host, [function, data] { function(data); });
}

void emulator_backend::synchronize_stream(native_stream stream) {
  {
    const std::scoped_lock lock(streams_changing_);
    if (const auto& c = live(stream).captured)
      refuse_in_capture(*c, "waiting for a stream on",
                        "it is captured into a graph, and its work does not run",
                        "wait before the capture begins, or after the graph was launched");
  }
  const auto queue = queue_of(stream);
  queue->wait();
  memory_.note_host_step();
  queue->check();
}

bool emulator_backend::stream_is_done(native_stream stream) {
  const std::scoped_lock lock(streams_changing_);
  if (const auto& c = live(stream).captured)
    refuse_in_capture(*c, "asking a stream on", "it is captured into a graph, and its work does not run",
                      "ask before the capture begins, or after the graph was launched");
  return live(stream).queue->is_idle();
}

bool emulator_backend::stream_is_capturing(native_stream stream) {
  const std::scoped_lock lock(streams_changing_);
  return live(stream).captured != nullptr;
}

void emulator_backend::synchronize() {
  {
    const std::scoped_lock lock(streams_changing_);
    const auto check = [&](const emulated::stream& s) {
      if (s.captured != nullptr)
        refuse_in_capture(*s.captured, "waiting for", "a stream of it is captured into a graph",
                          "wait for a stream, or before the capture begins");
    };
    for (const auto& [handle, s] : streams_) check(*s);
    check(legacy_stream_);
    check(per_thread_stream_);
  }
  const auto all = busy();
  for (const auto& q : all) q->wait();
  memory_.note_host_step();
  for (const auto& q : all) q->check();
}

// Events.

void emulator_backend::record(native_event event, native_stream stream) {
  const std::scoped_lock lock(streams_changing_);
  emulated::event& e = event_of(event);
  const emulated::stream& s = live(stream);
  e.captured = s.captured;
  e.at = s.captured != nullptr ? s.last : std::vector<void*>();
  auto mark = std::make_shared<emulated::mark>();
  const auto reach = [mark] {
    mark->ticks = clock::now().time_since_epoch().count();
    mark->reached = true;
  };
  mark->reached = false;
  e.last = mark;
  if (s.captured != nullptr || !s.queue->put(reach, true)) reach();
}

void emulator_backend::stream_wait(native_stream stream, native_event event) {
  std::unique_lock lock(streams_changing_);
  const emulated::event& e = event_of(event);
  emulated::stream& s = live(stream);
  const auto of_event = e.captured.lock();
  if (of_event == nullptr && s.captured == nullptr) {
    memory_.note_host_step();
    if (e.last->reached) return;
    // The stream polls for the event.
    const auto queue = s.queue;
    const auto mark = e.last;
    lock.unlock();
    return queue->run(
        [mark] {
          emulator::memory_wait& wait = *emulated::wait_of_thread();
          for (wait.begin(); !mark->reached && !emulator::memory_activity::shared().ended();)
            static_cast<void>(wait.wait(emulator::poll_state::timed, false));
        },
        true);
  }
  if (of_event == nullptr)
    refuse_in_capture(*s.captured, "letting a captured stream wait on",
                      "the event was recorded outside of the capture",
                      "record the event within the capture, or wait before it begins");
  if (&s == &legacy_stream_)
    refuse_in_capture(*of_event, "letting a stream wait on", "the legacy default stream cannot be captured",
                      "use a stream of your own");
  if (s.captured == nullptr) {
    s.captured = of_event;
    s.last.clear();
    of_event->streams.push_back(&s);
  } else if (s.captured != of_event) {
    refuse_in_capture(*s.captured, "letting a captured stream wait on", "the event is of another capture",
                      "record the event in the capture that waits for it");
  }
  for (void* const n : e.at)
    if (std::find(s.last.begin(), s.last.end(), n) == s.last.end()) s.last.push_back(n);
}

void emulator_backend::synchronize_event(native_event event) {
  {
    const std::scoped_lock lock(streams_changing_);
    if (const auto c = event_of(event).captured.lock())
      refuse_in_capture(*c, "waiting for an event on",
                        "it was recorded in a stream that is captured into a graph",
                        "wait for events that are recorded outside of captures");
  }
  const auto mark = mark_of(event);
  if (!mark->reached) {
    emulator::memory_activity& activity = emulator::memory_activity::shared();
    activity.note_event();  // until now this thread could write
    for (emulator::u64 seen = activity.events(); !mark->reached; seen = activity.events())
      activity.wait_for_event(seen);
  }
  memory_.note_host_step();
}

std::shared_ptr<emulated::mark> emulator_backend::mark_of(native_event event) {
  const std::scoped_lock lock(streams_changing_);
  return event_of(event).last;
}

bool emulator_backend::event_is_done(native_event event) {
  const std::scoped_lock lock(streams_changing_);
  if (const auto c = event_of(event).captured.lock())
    refuse_in_capture(*c, "asking an event on", "it was recorded in a stream that is captured into a graph",
                      "ask events that are recorded outside of captures");
  return event_of(event).last->reached;
}

double emulator_backend::elapsed_ms(native_event begin, native_event end) {
  const clock::duration between(mark_of(end)->ticks.load() - mark_of(begin)->ticks.load());
  return std::chrono::duration<double, std::milli>(between).count();
}

// Captures.

void emulator_backend::begin_capture(native_stream stream) {
  const std::scoped_lock lock(streams_changing_);
  emulated::stream& s = live(stream);
  const auto refuse = [&](std::string_view why) {
    throw stream_capturing(text("kaio: capturing a stream on ", description_, " failed: ", why));
  };
  if (&s == &legacy_stream_) refuse("the legacy default stream cannot be captured; use a stream of your own");
  if (s.captured != nullptr)
    refuse("the stream is captured already; end that capture first, or insert its graph as a node");
  auto fresh = std::make_shared<emulated::capture>();
  fresh->origin = &s;
  fresh->thread = std::this_thread::get_id();
  fresh->streams = {&s};
  s.captured = std::move(fresh);
  s.last.clear();
}

backend::native_graph emulator_backend::end_capture(native_stream stream) {
  const std::scoped_lock lock(streams_changing_);
  emulated::stream& s = live(stream);
  const auto c = s.captured;
  if (c == nullptr || c->origin != &s)
    throw stream_capturing(text("kaio: ending a capture on ", description_,
                                " failed: no capture was begun on this stream; end a capture on the stream "
                                "that it began on"));
  const std::string mistake = c->mistake;
  bool joined = true;
  for (emulated::stream* other : c->streams) {
    for (void* const last : other->last)
      joined = joined && std::any_of(s.last.begin(), s.last.end(), [&](void* end) {
                 return emulated::graph::follows(static_cast<emulated::node*>(end),
                                                 static_cast<emulated::node*>(last));
               });
  }
  for (emulated::stream* other : c->streams) other->captured = nullptr, other->last.clear();
  if (c->thread != std::this_thread::get_id())
    throw stream_capturing(text("kaio: ending a capture on ", description_,
                                " failed: the capture was begun by another thread; end it on that thread"));
  if (!mistake.empty()) throw_mistake_in_capture(mistake, description_);
  if (!joined)
    throw stream_capturing(text("kaio: ending a capture on ", description_,
                                " failed: a stream that joined the capture has work that the captured stream "
                                "does not wait for; record an event in it, and let the captured stream wait "
                                "for it before the end"));
  return c->into.release();
}

void emulator_backend::note_refused_in_capture(native_stream stream, const std::string& message) {
  const std::scoped_lock lock(streams_changing_);
  const auto& c = live(stream).captured;
  if (c != nullptr && c->mistake.empty()) c->mistake = message;
}

// Graphs.

backend::native_graph emulator_backend::clone_graph(native_graph graph) {
  return graph_of(graph).clone().release();
}

backend::native_node emulator_backend::find_in_clone(native_graph clone, native_node original) {
  return graph_of(clone).find(static_cast<const emulated::node*>(original));
}

std::size_t emulator_backend::graph_size(native_graph graph) { return graph_of(graph).nodes().size(); }

backend::native_node emulator_backend::add_kernel(native_graph graph, node_list after,
                                                  const loaded_kernel& code, const checked_launch& launch) {
  return graph_of(graph).add(node_kind::kernel, after, node_of(code, launch));
}

backend::native_node emulator_backend::add_copy(native_graph graph, node_list after, const row_copy& shape) {
  return graph_of(graph).add(node_kind::copy, after, [this, shape] { copy(shape); });
}

backend::native_node emulator_backend::add_fill(native_graph graph, node_list after, const row_fill& shape) {
  return graph_of(graph).add(node_kind::fill, after, [this, shape] { fill(shape); });
}

backend::native_node emulator_backend::add_host(native_graph graph, node_list after, host_function function,
                                                void* data) {
  return graph_of(graph).add(node_kind::host, after, [function, data] { function(data); });
}

backend::native_node emulator_backend::add_empty(native_graph graph, node_list after) {
  return graph_of(graph).add(node_kind::empty, after, {});
}

backend::native_node emulator_backend::add_child(native_graph graph, node_list after, native_graph child) {
  return graph_of(graph).add(
      node_kind::child, after,
      [steps = std::make_shared<emulated::executable>(graph_of(child))] { steps->run(); });
}

backend::native_executable emulator_backend::instantiate(native_graph graph) {
  return new emulated::executable(graph_of(graph));
}

void emulator_backend::destroy_executable(native_executable executable) noexcept {
  delete static_cast<emulated::executable*>(executable);
}

void emulator_backend::update(native_executable executable, native_graph changed) {
  if (!executable_of(executable).update(graph_of(changed)))
    throw invalid_argument(text("kaio: an executable graph on ", description_,
                                " cannot take the parameters of the graph given: it has other nodes or "
                                "dependencies; instantiate that graph instead"));
}

void emulator_backend::replace_kernel(native_executable executable, native_node node,
                                      const loaded_kernel& code, const checked_launch& launch) {
  if (!executable_of(executable).replace(static_cast<const emulated::node*>(node), node_of(code, launch)))
    throw invalid_argument(text("kaio: the node given is no kernel of the graph on ", description_,
                                "; take a node of a kernel of the graph that was instantiated"));
}

void emulator_backend::upload_graph(native_executable, native_stream stream) {
  const std::scoped_lock lock(streams_changing_);
  if (const auto& c = live(stream).captured)
    refuse_in_capture(*c, "uploading a graph to", "the stream is captured into another graph",
                      "upload it before the capture begins");
}

// As the driver, which captures no launch of a graph.
void emulator_backend::launch_graph(native_executable executable, native_stream stream) {
  {
    const std::scoped_lock lock(streams_changing_);
    if (const auto& c = live(stream).captured)
      refuse_in_capture(*c, "launching a graph on", "the stream is captured into another graph",
                        "put a graph into another one with graph::insert");
  }
  // The program may change or destroy it while it runs.
  auto steps = std::make_shared<const emulated::executable>(executable_of(executable));
  run_or_poll(stream, [steps = std::move(steps)] { steps->run(); });
}

}  // namespace kaio::runtime
