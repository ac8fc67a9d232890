#pragma once
// One-line scopes around what the runtime does, for the trace and for the log. If nothing is recorded, a scope costs one
// relaxed load, and `describe` is not called.
//
//   const trace::work traced(device, stream, [&] { return trace::copy("to device", bytes); });
//   device.copy_to_device(to, from, bytes, stream);
//
//   const trace::call waits("synchronize", description);
//
// A `work` is a slice of the calling thread, and one of the stream that the work is queued on. On the emulator both have
// the time of the call. On a GPU, two events measure the work, unless the stream is captured: then nothing runs now. A
// replay of a captured graph is one piece of work.

#include <string>
#include <string_view>

#include "runtime/base/backend.hpp"
#include "runtime/trace/recording.hpp"
#include "runtime/trace/slice.hpp"

namespace kaio::runtime::trace {

work_facts kernel(const loaded_kernel& code, const checked_launch& launch);
// "to device", "to host" or "on device".
work_facts copy(std::string_view direction, std::uint64_t bytes);
work_facts fill(std::uint64_t bytes, std::uint32_t value);
// The launch of an executable graph: its name, and the number of its nodes if it is known.
work_facts replay(std::string_view graph, std::uint64_t nodes);

class work {
 public:
  template <class Describe>
  work(backend& device, backend::native_stream stream, const Describe& describe) {
    if (is_on()) [[unlikely]]
      begin(device, stream, describe());
  }
  work(const work&) = delete;
  work& operator=(const work&) = delete;
  ~work() {
    if (state_ != nullptr) [[unlikely]]
      end();
  }
  // Where the launch may report its own times; null if nobody asks.
  launch_measure* measure() const noexcept { return measure_; }

 private:
  struct state;
  void begin(backend& device, backend::native_stream stream, const work_facts& facts) noexcept;
  void end() noexcept;
  state* state_ = nullptr;
  launch_measure* measure_ = nullptr;
};

// A call that queues no work: a slice of the calling thread alone. The views must outlive the scope.
class call {
 public:
  explicit call(const char* verb, std::string_view name = {}, std::uint64_t bytes = 0) noexcept {
    if (is_on()) [[unlikely]]
      begin(verb, name, bytes);
  }
  call(const call&) = delete;
  call& operator=(const call&) = delete;
  ~call() {
    if (begin_ != 0) [[unlikely]]
      end();
  }
  // The code that was loaded.
  void loaded(const loaded_kernel& code, bool on_emulator) noexcept {
    code_ = &code;
    on_emulator_ = on_emulator;
  }

 private:
  void begin(const char* verb, std::string_view name, std::uint64_t bytes) noexcept;
  void end() noexcept;
  void finish();

  nanoseconds begin_ = 0;  // 0: not recorded
  const char* verb_ = "";
  std::string_view name_;
  std::uint64_t bytes_ = 0;
  int exceptions_ = 0;
  const loaded_kernel* code_ = nullptr;
  bool on_emulator_ = false;
};

}  // namespace kaio::runtime::trace
