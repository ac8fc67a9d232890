#pragma once
// The trace of a program: what it did on the host and on its devices, and when. The environment asks for it:
//
//   KAIO_TRACE=trace.json ./program
//
// docs/trace.md describes the file, which Perfetto and chrome://tracing show. It is written when the program ends.

#include <kaio/ptx/standard.hpp>

namespace kaio::runtime {

// Writes the trace up to now to the file that KAIO_TRACE names, and waits for the traced work of all devices. Recording
// goes on. Returns false if there is no trace, or if the file cannot be written, which the log reports once.
bool write_trace() noexcept;

}  // namespace kaio::runtime
