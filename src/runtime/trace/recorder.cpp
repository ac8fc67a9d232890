#include "runtime/trace/recorder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iterator>
#include <utility>

#include "host/write_file.hpp"
#include "runtime/base/log.hpp"
#include "runtime/base/process_file.hpp"
#include "runtime/trace/chrome_text.hpp"

namespace kaio::runtime::trace {

namespace {

constexpr std::uint32_t no_row = ~0u;
// The pieces of work whose events are looked at when another one is queued.
constexpr std::size_t looks = 4;

thread_local std::uint32_t thread_row = no_row;

}  // namespace

nanoseconds now() noexcept {
  return static_cast<nanoseconds>(
      std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count());
}

recorder::recorder(std::string file, std::size_t most)
    : file_(std::move(file)), process_(process_number()), most_(most) {
  data_.begin = now();
  data_.processes.push_back({fmt::format("host: process {}", process_)});
}

device_row* recorder::find(const backend& device) noexcept {
  const auto found = std::find_if(devices_.begin(), devices_.end(),
                                  [&](const auto& one) { return &one->device() == &device; });
  return found == devices_.end() ? nullptr : found->get();
}

void recorder::open(backend& device, backend::native_stream first, backend::native_stream transfers) {
  auto opened = std::make_unique<device_row>(device, transfers);
  const std::scoped_lock lock(changing_);
  const int ordinal = device.properties().ordinal;
  const std::string name = ordinal >= 0 ? fmt::format("cuda:{}: ", ordinal) : std::string();
  opened->process = static_cast<std::uint32_t>(data_.processes.size());
  data_.processes.push_back({name + std::string(device.description())});
  const auto add = [&](backend::native_stream stream, const char* title) {
    opened->rows.emplace_back(stream, static_cast<std::uint32_t>(data_.rows.size()));
    data_.rows.push_back({opened->process, title});
  };
  if (first == transfers) {
    add(first, "all streams");
  } else {
    add(first, "the device's own stream");
    add(transfers, "uploads and downloads");
  }
  devices_.push_back(std::move(opened));
}

void recorder::close(backend& device) noexcept {
  const std::scoped_lock lock(changing_);
  device_row* const closed = find(device);
  if (closed == nullptr) return;
  resolve(*closed, ~std::size_t{0}, true);
  std::erase_if(devices_, [&](const auto& one) { return one.get() == closed; });
  if (ended_) write_locked();
}

event_pair recorder::take_events(backend& device) {
  const std::scoped_lock lock(changing_);
  device_row* const used = find(device);
  return used != nullptr && used->has_events() && has_room(2) ? used->take() : event_pair();
}

void recorder::give_back(backend& device, event_pair events) noexcept {
  const std::scoped_lock lock(changing_);
  if (device_row* const used = find(device)) used->give_back(events);
}

std::uint32_t recorder::row_of_thread() {
  if (thread_row == no_row) {
    data_.rows.push_back({0, fmt::format("thread {}", ++threads_)});
    thread_row = static_cast<std::uint32_t>(data_.rows.size() - 1);
  }
  return thread_row;
}

std::uint32_t recorder::row_of(device_row& device, backend::native_stream stream) {
  for (const auto& [known, row] : device.rows)
    if (known == stream) return row;
  data_.rows.push_back({device.process, fmt::format("stream {}", device.rows.size() - 1)});
  device.rows.emplace_back(stream, static_cast<std::uint32_t>(data_.rows.size() - 1));
  return device.rows.back().second;
}

// The kernel's name may be in a library that will be unloaded.
std::size_t recorder::keep(slice&& s) {
  s.facts.name = *names_.emplace(s.facts.name).first;
  data_.slices.push_back(std::move(s));
  return data_.slices.size() - 1;
}

void recorder::count_lost(std::uint64_t slices, const std::exception* cause) noexcept {
  data_.left_out += slices;
  if (cause == nullptr || std::exchange(refused_, true)) return;
  try {
    log().error("KAIO_TRACE: slices are left out: {}", cause->what());
  } catch (...) {  // without memory there is no message either
  }
}

void recorder::add(slice of_host) noexcept {
  const std::scoped_lock lock(changing_);
  if (!has_room(1)) return count_lost(1, nullptr);
  try {
    of_host.row = row_of_thread();
    keep(std::move(of_host));
  } catch (const std::exception& e) {
    count_lost(1, &e);
  }
}

void recorder::add(slice of_host, slice of_device, backend& device, backend::native_stream stream,
                   event_pair events) noexcept {
  const std::scoped_lock lock(changing_);
  device_row* const used = find(device);
  try {
    if (used == nullptr && has_room(1)) {
      of_host.row = row_of_thread();
      keep(std::move(of_host));
    } else if (used != nullptr && has_room(2)) {
      of_host.flow = of_device.flow = ++flows_;
      of_host.row = row_of_thread();
      of_device.row = row_of(*used, stream);
      of_device.on_device = true;
      if (events.end != nullptr) of_device.ended = slice::ending::unknown;
      keep(std::move(of_host));
      const std::size_t index = keep(std::move(of_device));
      if (events.end != nullptr) {
        used->expect(index, std::exchange(events, {}));
        resolve(*used, looks, false);
      }
    } else {
      count_lost(2, nullptr);
    }
  } catch (const std::exception& e) {
    count_lost(2, &e);
  }
  if (used != nullptr && events.end != nullptr) used->give_back(events);
}

void recorder::leave_out() noexcept {
  const std::scoped_lock lock(changing_);
  if (!has_room(2)) count_lost(1, nullptr);
}

void recorder::resolve(device_row& device, std::size_t most, bool wait) {
  device.resolve(
      most, wait,
      [&](std::size_t index, nanoseconds begin, nanoseconds end) {
        slice& s = data_.slices[index];
        s.begin = begin;
        s.end = std::max(begin, end);
        s.ended = slice::ending::done;
      },
      [](std::size_t) {});
}

bool recorder::write_locked() noexcept {
  if (process_ != process_number()) return false;  // a child of fork: the file is its parent's
  try {
    for (const auto& device : devices_) resolve(*device, ~std::size_t{0}, true);
    const std::string text = chrome_text(data_);
    if (file_ == "-") {
      std::fwrite(text.data(), 1, text.size(), stdout);
      std::fflush(stdout);
    } else {
      host::write_file(file_, {text}, host::durability::made_again);
    }
    if (data_.left_out != 0)
      log().warn(
          "KAIO_TRACE: {} has the first {} slices; {} later ones are left out: set KAIO_TRACE_SLICES higher",
          file_, data_.slices.size(), data_.left_out);
    return true;
  } catch (const std::exception& e) {
    try {
      if (!std::exchange(refused_, true)) log().error("KAIO_TRACE: the trace is not written: {}", e.what());
    } catch (...) {  // as above
    }
    return false;
  }
}

bool recorder::write() noexcept {
  const std::scoped_lock lock(changing_);
  return write_locked();
}

void recorder::end_program() noexcept {
  const std::scoped_lock lock(changing_);
  ended_ = true;
  write_locked();
}

}  // namespace kaio::runtime::trace
