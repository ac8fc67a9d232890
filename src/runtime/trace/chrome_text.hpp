#pragma once
// A trace as JSON in Chrome's trace event format, which Perfetto reads as well. Source: "Trace Event Format", the
// document of the Catapult project. Slices are complete events (`X`), rows are threads, and the host and each device are
// processes. A flow (`s`, `f`) leads from a call of the host to its work on the device.

#include <string>
#include <string_view>

#include "runtime/trace/recorder.hpp"

namespace kaio::runtime::trace {

std::string chrome_text(const recorded& trace);

// A text as a JSON string, with its quotes.
std::string json_quoted(std::string_view text);
// "4 x 1 x 1"
std::string extents_text(const ptx::dim3& e);

}  // namespace kaio::runtime::trace
