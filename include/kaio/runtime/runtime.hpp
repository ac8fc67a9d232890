#pragma once
// The host side of kaio in one include: devices, streams, events, buffers, pools, graphs and errors. It knows nothing of the
// language; `kernel.launch(stream, ...)` hands it a ptx::kernel_image.

#include <kaio/runtime/buffer.hpp>
#include <kaio/runtime/copy.hpp>
#include <kaio/runtime/device.hpp>
#include <kaio/runtime/error.hpp>
#include <kaio/runtime/event.hpp>
#include <kaio/runtime/graph.hpp>
#include <kaio/runtime/host_buffer.hpp>
#include <kaio/runtime/memory_pool.hpp>
#include <kaio/runtime/properties.hpp>
#include <kaio/runtime/stream.hpp>
#include <kaio/runtime/tensor_map.hpp>
#include <kaio/runtime/trace.hpp>
