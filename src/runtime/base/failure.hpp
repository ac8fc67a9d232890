#pragma once
// How the runtime fails. One place turns a code into the exception type of that code. A latch keeps the first
// failure after which a device is lost.

#include <kaio/runtime/error.hpp>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

namespace kaio::runtime {

[[noreturn]] void throw_error(errc code, const std::string& message);
// Throws stream_capturing: `first` is the message of the call that ended a capture on the device.
[[noreturn]] void throw_mistake_in_capture(std::string_view first, std::string_view device);

// Set once, read by every call on the device: reading costs one load.
class failure_latch {
 public:
  failure_latch() = default;
  failure_latch(const failure_latch&) = delete;
  failure_latch& operator=(const failure_latch&) = delete;
  ~failure_latch();

  // Keeps the failure if it is the first.
  void remember(errc code, const std::string& message);
  // Around a call that has nothing in the device's own memory. An earlier failure is forgotten when such a call begins and no
  // other one runs: a running call still needs to see what failed in its stream.
  void begin_recoverable_call();
  void end_recoverable_call() noexcept;
  bool has_failed() const noexcept { return first_.load(std::memory_order_acquire) != nullptr; }
  // Throws the first cause, if there was one; `remedy` is the advice.
  void check(std::string_view device, std::string_view remedy) const {
    const failure* first = first_.load(std::memory_order_acquire);
    if (first) [[unlikely]]
      throw_first(*first, device, remedy);
  }

 private:
  struct failure {
    errc code;
    std::string message;
    failure* before = nullptr;  // forgotten, and maybe still read by another thread
  };
  [[noreturn]] static void throw_first(const failure& first, std::string_view device,
                                       std::string_view remedy);
  void forget() noexcept;
  std::atomic<failure*> first_{nullptr};
  std::atomic<failure*> forgotten_{nullptr};
  std::mutex recoverable_;
  std::uint32_t recoverable_calls_ = 0;
};

}  // namespace kaio::runtime
