// Priorities of streams, and changes of graphs.

#include <kaio/c/runtime.h>

#include <cstdint>
#include <memory>

#include "c/call/devices.hpp"
#include "c/call/error.hpp"
#include "c/handles.hpp"

using namespace kaio::c;

extern "C" {

kaio_status kaio_stream_create_with_priority(DLDevice device, int32_t priority, kaio_stream** stream) {
  return guarded([&] {
    require("stream_create_with_priority", "stream", stream);
    const kaio::runtime::device& gpu = device_of("stream_create_with_priority", "device", device);
    *stream = new kaio_stream{gpu.create_stream({.priority = priority})};
  });
}

kaio_status kaio_stream_priorities(DLDevice device, int32_t* lowest, int32_t* highest) {
  return guarded([&] {
    require("stream_priorities", "lowest", lowest);
    require("stream_priorities", "highest", highest);
    const auto range = device_of("stream_priorities", "device", device).stream_priorities();
    *lowest = range.lowest;
    *highest = range.highest;
  });
}

kaio_status kaio_stream_is_capturing(DLDevice device, void* stream, int32_t* capturing) {
  return guarded([&] {
    require("stream_is_capturing", "capturing", capturing);
    const kaio::runtime::device& gpu = device_of("stream_is_capturing", "device", device);
    *capturing = kaio::runtime::stream::borrow(gpu, stream).is_capturing();
  });
}

kaio_status kaio_graph_update(kaio_graph* graph, kaio_capture* capture) {
  return guarded([&] {
    const std::unique_ptr<kaio_capture> ended(capture);
    require("graph_update", "capture", capture);
    require("graph_update", "graph", graph);
    graph->graph.update(ended->recording.end());
  });
}

kaio_status kaio_graph_upload(const kaio_graph* graph, void* stream) {
  return guarded([&] {
    require("graph_upload", "graph", graph);
    graph->graph.upload(kaio::runtime::stream::borrow(graph->gpu, stream));
  });
}
}
