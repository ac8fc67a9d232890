#pragma once
// Whether anything is recorded, and where to. This is all that a launch looks at if nothing is: one relaxed load.
//
//   KAIO_TRACE          a file for the trace; %p in its name is the number of the process; -: standard output
//   KAIO_TRACE_SLICES   the number of slices that are kept, 500000 if it is not set; later ones are counted
//   KAIO_LOG            from `debug` on, the log has a line for each piece of the same work

#include <atomic>
#include <cstdint>

#include "runtime/base/backend.hpp"

namespace kaio::runtime::trace {

inline constexpr std::uint8_t to_file = 1, to_log = 2;
extern constinit std::atomic<std::uint8_t> sinks;

inline bool is_on() noexcept { return sinks.load(std::memory_order_relaxed) != 0; }
inline bool has(std::uint8_t sink) noexcept { return (sinks.load(std::memory_order_relaxed) & sink) != 0; }

// Reads the environment, once. To be called before a device is opened.
void start();
// A device is open from here on, until the second call. All its work has ended then.
void device_opened(backend& device, backend::native_stream first, backend::native_stream transfers) noexcept;
void device_closes(backend& device) noexcept;

}  // namespace kaio::runtime::trace
