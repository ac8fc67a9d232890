#pragma once
// A line on the terminal for a long launch: how many of its blocks have ended. It goes to the standard error
// stream, if that is a terminal, and is erased when the launch ends. If several launches run at a time, the
// first has it.
//
//   kaio: kernel 'attention': 312 of 4096 blocks in 17 s

#include "emulator/program/scalar.hpp"

#include <atomic>
#include <chrono>
#include <mutex>
#include <string>
#include <string_view>

namespace kaio::emulator {

class progress_line {
 public:
  // Appears when the launch has run for longer than `after`; nanoseconds::max(): never.
  progress_line(std::string_view kernel, u64 blocks, std::chrono::nanoseconds after);
  ~progress_line();
  progress_line(const progress_line&) = delete;
  progress_line& operator=(const progress_line&) = delete;

  // Any thread may call it at any rate.
  void update(u64 done, std::chrono::nanoseconds elapsed) {
    if (elapsed.count() >= next_.load(std::memory_order_relaxed)) write(done, elapsed);
  }

 private:
  enum class place { undecided, terminal, none };

  void write(u64 done, std::chrono::nanoseconds elapsed);

  const std::string kernel_;
  const u64 blocks_;
  std::atomic<std::chrono::nanoseconds::rep> next_;
  std::mutex mutex_;
  place place_ = place::undecided;
};

}  // namespace kaio::emulator
