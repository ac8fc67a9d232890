#pragma once
// What a trace consists of: pieces of time, each in a row. A thread of the host is a row, and so is a stream of a device.

#include <kaio/ptx/target.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace kaio::runtime::trace {

// Nanoseconds on the host's steady clock.
using nanoseconds = std::uint64_t;

// What is queued on a device. A field of zeros does not apply, or is not known.
struct work_facts {
  const char* category = "";  // kernel, copy, fill, graph
  std::string_view name;      // in the row of the device
  const char* verb = "";      // in the row of the host: the verb, then the name
  ptx::dim3 grid{0, 0, 0}, block{0, 0, 0}, cluster{0, 0, 0};
  std::uint32_t shared_bytes = 0, registers = 0, local_bytes = 0;  // of a block; of a thread
  std::uint64_t bytes = 0;                                         // copied or filled
  std::uint64_t nodes = 0;                                         // of a graph
  bool programmatic = false;
};

struct slice {
  enum class ending : std::uint8_t {
    done,
    failed,
    unknown
  };  // unknown: the device has not reported its times

  nanoseconds begin = 0, end = 0;
  std::uint32_t row = 0;
  std::uint64_t flow = 0;  // the host's slice and the device's slice of one piece of work share this number
  bool on_device = false, captured = false;
  ending ended = ending::done;
  work_facts facts;                     // its name lives as long as the recorder
  std::uint64_t warp_instructions = 0;  // of a kernel on the emulator
  std::string more;                     // members of a JSON object: "\"how\":\"compiled\""
};

}  // namespace kaio::runtime::trace
