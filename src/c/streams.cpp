// Streams, events and graphs of the C interface.

#include <kaio/c/device.h>
#include <kaio/runtime/device.hpp>
#include <kaio/runtime/event.hpp>
#include <kaio/runtime/graph.hpp>
#include <kaio/runtime/stream.hpp>

#include <memory>

#include "c/call/devices.hpp"
#include "c/call/error.hpp"
#include "c/handles.hpp"

using namespace kaio::c;

static kaio::runtime::stream stream_of(const char* operation, const DLDevice& device, void* handle) {
  return kaio::runtime::stream::borrow(device_of(operation, "device", device), handle);
}

extern "C" {

kaio_status kaio_stream_create(DLDevice device, kaio_stream** stream) {
  return guarded([&] {
    require("stream_create", "stream", stream);
    *stream = new kaio_stream{device_of("stream_create", "device", device).create_stream()};
  });
}

void* kaio_stream_handle(const kaio_stream* stream) {
  return stream == nullptr ? nullptr : stream->stream.native_handle();
}

kaio_status kaio_stream_destroy(kaio_stream* stream) {
  return guarded([&] { delete stream; });
}

kaio_status kaio_stream_synchronize(DLDevice device, void* stream) {
  return guarded([&] { stream_of("stream_synchronize", device, stream).synchronize(); });
}

kaio_status kaio_stream_is_done(DLDevice device, void* stream, int32_t* done) {
  return guarded([&] {
    require("stream_is_done", "done", done);
    *done = stream_of("stream_is_done", device, stream).is_done();
  });
}

kaio_status kaio_event_create(DLDevice device, kaio_event** event) {
  return guarded([&] {
    require("event_create", "event", event);
    const kaio::runtime::device& gpu = device_of("event_create", "device", device);
    *event = new kaio_event{gpu, gpu.create_event()};
  });
}

kaio_status kaio_event_destroy(kaio_event* event) {
  return guarded([&] { delete event; });
}

kaio_status kaio_event_record(kaio_event* event, void* stream) {
  return guarded([&] {
    require("event_record", "event", event);
    kaio::runtime::stream::borrow(event->gpu, stream).record(event->event);
  });
}

kaio_status kaio_event_wait(const kaio_event* event, void* stream) {
  return guarded([&] {
    require("event_wait", "event", event);
    kaio::runtime::stream::borrow(event->gpu, stream).wait(event->event);
  });
}

kaio_status kaio_event_synchronize(const kaio_event* event) {
  return guarded([&] {
    require("event_synchronize", "event", event);
    event->event.synchronize();
  });
}

kaio_status kaio_event_is_done(const kaio_event* event, int32_t* done) {
  return guarded([&] {
    require("event_is_done", "event", event);
    require("event_is_done", "done", done);
    *done = event->event.is_done();
  });
}

kaio_status kaio_event_elapsed(const kaio_event* begin, const kaio_event* end, double* milliseconds) {
  return guarded([&] {
    require("event_elapsed", "begin", begin);
    require("event_elapsed", "end", end);
    require("event_elapsed", "milliseconds", milliseconds);
    *milliseconds = kaio::runtime::elapsed_ms(begin->event, end->event);
  });
}

kaio_status kaio_capture_begin(DLDevice device, void* stream, kaio_capture** capture) {
  return guarded([&] {
    require("capture_begin", "capture", capture);
    const kaio::runtime::device& gpu = device_of("capture_begin", "device", device);
    *capture = new kaio_capture{gpu, kaio::runtime::capture(kaio::runtime::stream::borrow(gpu, stream))};
  });
}

kaio_status kaio_capture_end(kaio_capture* capture, kaio_graph** graph) {
  return guarded([&] {
    require("capture_end", "capture", capture);
    const std::unique_ptr<kaio_capture> ended(capture);
    if (graph == nullptr) return;  // its work is dropped
    *graph = new kaio_graph{ended->gpu, ended->recording.end().instantiate()};
  });
}

kaio_status kaio_graph_launch(const kaio_graph* graph, void* stream) {
  return guarded([&] {
    require("graph_launch", "graph", graph);
    graph->graph.launch(kaio::runtime::stream::borrow(graph->gpu, stream));
  });
}

kaio_status kaio_graph_destroy(kaio_graph* graph) {
  return guarded([&] { delete graph; });
}
}
