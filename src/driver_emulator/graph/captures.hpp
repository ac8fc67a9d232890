#pragma once
// Capturing streams into graphs. Source: CUDA driver API, "Stream Management": cuStreamBeginCapture,
// cuThreadExchangeStreamCaptureMode; programming guide, "Creating a Graph Using Stream Capture".

#include "driver_emulator/state/objects.hpp"

namespace kaio::driver_emulator {

// For functions that may not be called while a stream is captured. Unless the thread's mode allows them, they
// invalidate the captures and fail with CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED.
void forbid_in_capture();
// For functions that wait for `s`, or ask it.
void forbid_captured(const stream& s);
// For functions that wait for the whole context.
void forbid_captured(const context& c);
// For work in the legacy stream, which would wait for streams that are being captured.
void forbid_implicit_order(const context& c);

// Adds work to the graph that a stream is captured into.
void capture_work(stream& s, work what, CUgraphNodeType type);
void capture_record(stream& s, event& e);
// Returns whether the wait was captured: false if neither the stream nor the event is.
bool capture_wait(const std::shared_ptr<stream>& s, event& e);

// For a stream that is destroyed: a capture that it joined cannot be ended, and one that began on it ends without a graph.
void abandon_capture(const std::shared_ptr<stream>& s);
// Does so for all streams of a context.
void abandon_captures(const context& c);

}  // namespace kaio::driver_emulator
