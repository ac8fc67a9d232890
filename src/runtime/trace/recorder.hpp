#pragma once
// The trace of this program. It keeps slices up to a limit and counts the others. Any thread may use it at any time,
// also when static objects are gone.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "runtime/base/backend.hpp"
#include "runtime/trace/device_row.hpp"
#include "runtime/trace/slice.hpp"

namespace kaio::runtime::trace {

nanoseconds now() noexcept;

// What the file is made of.
struct recorded {
  struct process {
    std::string name;
  };
  struct row {
    std::uint32_t process = 0;
    std::string name;
  };
  nanoseconds begin = 0;
  std::vector<process> processes;  // the host, then the devices
  std::vector<row> rows;
  std::deque<slice> slices;
  std::uint64_t left_out = 0;  // slices beyond the limit
};

class recorder {
 public:
  recorder(std::string file, std::size_t most);

  void open(backend& device, backend::native_stream first, backend::native_stream transfers);
  void close(backend& device) noexcept;

  // Events for a piece of work; nulls if the device has none, or if no slice fits any more.
  event_pair take_events(backend& device);
  void give_back(backend& device, event_pair events) noexcept;

  // A slice of this thread.
  void add(slice of_host) noexcept;
  // And one of the device that belongs to it. With events, they measure it.
  void add(slice of_host, slice of_device, backend& device, backend::native_stream stream,
           event_pair events) noexcept;

  // A piece of work has no slice on its device. Counts it if that is for the limit.
  void leave_out() noexcept;

  bool write() noexcept;
  // At the end of the program. Devices that close afterwards write the file again.
  void end_program() noexcept;

 private:
  device_row* find(const backend& device) noexcept;
  std::uint32_t row_of_thread();
  std::uint32_t row_of(device_row& device, backend::native_stream stream);
  bool has_room(std::size_t slices) const noexcept { return data_.slices.size() + slices <= most_; }
  std::size_t keep(slice&& s);
  void resolve(device_row& device, std::size_t most, bool wait);
  void count_lost(std::uint64_t slices, const std::exception* cause) noexcept;
  bool write_locked() noexcept;

  std::mutex changing_;
  std::string file_;
  int process_ = 0;
  std::size_t most_;
  recorded data_;
  std::unordered_set<std::string> names_;
  std::vector<std::unique_ptr<device_row>> devices_;
  std::uint64_t flows_ = 0;
  std::uint32_t threads_ = 0;
  bool ended_ = false, refused_ = false;
};

// Null: no trace is asked for.
recorder* the_recorder() noexcept;

}  // namespace kaio::runtime::trace
