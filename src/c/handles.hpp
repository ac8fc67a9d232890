#pragma once
// What the handles of the C interface are.

#include <kaio/c/device.h>
#include <kaio/runtime/device.hpp>
#include <kaio/runtime/event.hpp>
#include <kaio/runtime/graph.hpp>
#include <kaio/runtime/stream.hpp>

struct kaio_stream {
  kaio::runtime::stream stream;
};

struct kaio_event {
  kaio::runtime::device gpu;
  kaio::runtime::event event;
};

struct kaio_capture {
  kaio::runtime::device gpu;
  kaio::runtime::capture recording;
};

struct kaio_graph {
  kaio::runtime::device gpu;
  kaio::runtime::executable_graph graph;
};
