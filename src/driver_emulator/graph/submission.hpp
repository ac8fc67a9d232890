#pragma once
// How the library's functions put work into streams: a stream that is being captured takes it into its graph.

#include "driver_emulator/state/objects.hpp"

namespace kaio::driver_emulator {

// Puts work into a stream: it runs now, later, or becomes a node of the graph that the stream is captured
// into. Throws failure.
void submit(const std::shared_ptr<stream>& where, work what, CUgraphNodeType type);
// The same for a function that waits for it, as cuMemcpy. A stream that is captured refuses it.
void submit_and_wait(const std::shared_ptr<stream>& where, work what);

}  // namespace kaio::driver_emulator
