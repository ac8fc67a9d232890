#pragma once
// How the library's functions put work into streams. A stream that is being captured adds it to its graph.

#include "driver_emulator/state/objects.hpp"

namespace kaio::driver_emulator {

// Puts work into a stream. It runs now or later; if the stream is captured, it becomes a node of the graph.
// Throws failure.
void submit(const std::shared_ptr<stream>& where, work what, CUgraphNodeType type);
// Puts work into a stream and waits for it, as cuMemcpy does. A captured stream refuses it.
void submit_and_wait(const std::shared_ptr<stream>& where, work what);

}  // namespace kaio::driver_emulator
