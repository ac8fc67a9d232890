#include "runtime/trace/recording.hpp"

#include <kaio/runtime/trace.hpp>

#include <charconv>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <string>
#include <string_view>

#include "host/lasting.hpp"
#include "runtime/base/elevated.hpp"
#include "runtime/base/log.hpp"
#include "runtime/base/process_file.hpp"
#include "runtime/trace/recorder.hpp"

namespace kaio::runtime::trace {

constinit std::atomic<std::uint8_t> sinks{0};

namespace {

constexpr std::size_t most_slices = 500'000;

// It lives as long as the program: devices may still be used when static objects are gone.
constinit std::atomic<recorder*> recording{nullptr};

std::size_t limit() {
  const char* const value = std::getenv("KAIO_TRACE_SLICES");
  if (value == nullptr || *value == '\0') return most_slices;
  const std::string_view text(value);
  std::size_t count = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (failed == std::errc{} && end == text.data() + text.size() && count != 0) return count;
  log().warn("KAIO_TRACE_SLICES is '{}'; write a number from 1. {} slices are kept", text, most_slices);
  return most_slices;
}

void read_environment() {
  std::uint8_t wanted = log().should_log(spdlog::level::debug) ? to_log : 0;
  if (const std::string file = file_variable("KAIO_TRACE"); !file.empty()) {
    recording.store(host::make_lasting<recorder>(process_file(file), limit()), std::memory_order_release);
    wanted |= to_file;
  }
  sinks.store(wanted, std::memory_order_relaxed);
}

void end_program() {
  if (recorder* const trace = the_recorder()) trace->end_program();
}

}  // namespace

recorder* the_recorder() noexcept { return recording.load(std::memory_order_acquire); }

void start() {
  static std::once_flag once;
  std::call_once(once, read_environment);
}

void device_opened(backend& device, backend::native_stream first, backend::native_stream transfers) noexcept {
  recorder* const trace = the_recorder();
  if (trace == nullptr) return;
  try {
    trace->open(device, first, transfers);
    // The driver ends with the program too. What is asked for later happens earlier: here the driver has been loaded.
    static std::once_flag of_gpu, of_emulator;
    std::call_once(device.properties().is_emulator() ? of_emulator : of_gpu,
                   [] { host::at_end(end_program); });
  } catch (const std::exception& e) {
    static std::atomic<bool> reported{false};
    if (reported.exchange(true)) return;
    try {
      log().warn("KAIO_TRACE: the work of {} is not traced: {}", device.description(), e.what());
    } catch (...) {  // without memory there is no message either
    }
  }
}

void device_closes(backend& device) noexcept {
  if (recorder* const trace = the_recorder()) trace->close(device);
}

}  // namespace kaio::runtime::trace

namespace kaio::runtime {

bool write_trace() noexcept {
  trace::recorder* const trace = trace::the_recorder();
  return trace != nullptr && trace->write();
}

}  // namespace kaio::runtime
