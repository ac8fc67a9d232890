#pragma once
// One device of a trace: a row for each of its streams. On a GPU, events around each piece of work measure it on the GPU's
// clock, and reference events relate that clock to the host's. Nothing here waits for the device unless it is asked to.
// Only one thread at a time may use it.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/base/backend.hpp"
#include "runtime/trace/slice.hpp"

namespace kaio::runtime::trace {

struct event_pair {
  backend::native_event begin = nullptr, end = nullptr;
};

class device_row {
 public:
  // Waits for an event on the stream, and so matches the clocks. Throws what the device throws.
  device_row(backend& device, backend::native_stream stream);
  device_row(const device_row&) = delete;
  device_row& operator=(const device_row&) = delete;
  ~device_row();

  backend& device() const noexcept { return device_; }
  bool has_events() const noexcept { return reference_ != nullptr; }

  event_pair take();
  void give_back(event_pair events) noexcept;
  // The slice `index` is between the two events, which were recorded.
  void expect(std::size_t index, event_pair events) { waiting_.push_back({index, events}); }
  // Calls found(index, begin, end) for each slice whose times are known by now, and lost(index) if they never will be.
  // Looks at `most` slices, and waits for them if it is asked to.
  void resolve(std::size_t most, bool wait,
               const std::function<void(std::size_t, nanoseconds, nanoseconds)>& found,
               const std::function<void(std::size_t)>& lost);

  std::vector<std::pair<backend::native_stream, std::uint32_t>> rows;  // the row of each stream
  std::uint32_t process = 0;

 private:
  struct expected {
    std::size_t index;
    event_pair events;
  };
  explicit device_row(backend& device) : device_(device) {}
  void match_clocks(backend::native_stream stream);

  backend& device_;
  backend::native_event reference_ = nullptr;
  double reference_time_ = 0;  // nanoseconds on the host's clock
  std::vector<backend::native_event> free_;
  std::deque<expected> waiting_;
};

}  // namespace kaio::runtime::trace
