#include "runtime/trace/device_row.hpp"

#include <algorithm>
#include <chrono>

#include "runtime/trace/recorder.hpp"

namespace kaio::runtime::trace {

namespace {

// The driver returns milliseconds as a float. Up to here its last digit is below 0.1 us.
constexpr double most_milliseconds = 1000;
constexpr int attempts = 3;

}  // namespace

device_row::device_row(backend& device, backend::native_stream stream) : device_row(device) {
  if (!device.properties().is_emulator()) match_clocks(stream);
}

device_row::~device_row() {
  for (const expected& one : waiting_) give_back(one.events);
  for (const backend::native_event event : free_) device_.destroy_event(event);
  if (reference_ != nullptr) device_.destroy_event(reference_);
}

// The event is between two readings of the host's clock. Of several attempts, the one with the closest readings counts.
void device_row::match_clocks(backend::native_stream stream) {
  nanoseconds least = ~nanoseconds{0};
  for (int i = 0; i < attempts; ++i) {
    const backend::native_event event = device_.create_event();
    free_.push_back(event);
    const nanoseconds before = now();
    device_.record(event, stream);
    double none = 0;
    const bool is_known = device_.measure(event, event, true, none) == measured::yes;
    const nanoseconds after = now();
    if (!is_known || after - before >= least) continue;
    least = after - before;
    if (reference_ != nullptr) free_.push_back(reference_);
    free_.erase(std::find(free_.begin(), free_.end(), event));
    reference_ = event;
    reference_time_ = static_cast<double>(before) + static_cast<double>(least) / 2;
  }
}

event_pair device_row::take() {
  while (free_.size() < 2) free_.push_back(device_.create_event());
  const event_pair events{free_[free_.size() - 2], free_.back()};
  free_.resize(free_.size() - 2);
  return events;
}

void device_row::give_back(event_pair events) noexcept {
  try {
    free_.push_back(events.begin);
    free_.push_back(events.end);
  } catch (...) {  // without memory for the list; an event that is in no list stays with the context
  }
}

void device_row::resolve(std::size_t most, bool wait,
                         const std::function<void(std::size_t, nanoseconds, nanoseconds)>& found,
                         const std::function<void(std::size_t)>& lost) {
  for (std::size_t i = 0; i < most && !waiting_.empty(); ++i) {
    const expected one = waiting_.front();
    double begin = 0, end = 0;
    measured known = device_.measure(reference_, one.events.end, wait, end);
    if (known == measured::not_yet) return;
    if (known == measured::yes) known = device_.measure(reference_, one.events.begin, false, begin);
    waiting_.pop_front();
    if (known != measured::yes) {
      lost(one.index);
      give_back(one.events);
      continue;
    }
    const double from = reference_time_ + begin * 1e6, to = reference_time_ + end * 1e6;
    found(one.index, static_cast<nanoseconds>(from), static_cast<nanoseconds>(to));
    if (end > most_milliseconds) {  // the end of this slice is the next reference
      give_back({one.events.begin, reference_});
      reference_ = one.events.end;
      reference_time_ = to;
    } else {
      give_back(one.events);
    }
  }
}

}  // namespace kaio::runtime::trace
