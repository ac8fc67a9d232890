#pragma once
// Ends a grid that exceeds one of its budgets or is cancelled, and shows the progress of a long one. Each thread
// that runs blocks counts its work in its own work_meter. It checks the watchdog once in some ten thousand
// instructions: often enough to stop within milliseconds, seldom enough to cost nothing.
//
//   watchdog guard(g, budgets, cancelled, after);
//   work_meter meter(guard);                   // in each thread
//   meter.add(w, run_warp(w, steps));          // throws fault

#include "emulator/machine/grid.hpp"
#include "emulator/machine/warp.hpp"
#include "emulator/program/error.hpp"
#include "emulator/run/budget.hpp"
#include "emulator/run/progress_line.hpp"
#include "emulator/waiting/memory_wait.hpp"

#include <atomic>
#include <chrono>
#include <functional>
#include <vector>

namespace kaio::emulator {

class watchdog {
 public:
  // All threads of the grid ask `cancelled` whether to end the grid; it may be empty.
  watchdog(const grid& g, std::vector<budget> budgets, std::function<bool()> cancelled,
           std::chrono::nanoseconds progress_after, memory_wait* wait = nullptr);

  // Counts work since this thread's last call; `at` did the last of it. Throws fault.
  void check(const warp& at, u64 instructions, u64 blocks);

  // launch::wait
  memory_wait* wait() const { return wait_; }

 private:
  std::chrono::nanoseconds elapsed() const { return std::chrono::steady_clock::now() - begin_; }

  const std::vector<budget> budgets_;
  const std::function<bool()> cancelled_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::atomic<u64> instructions_{0}, blocks_{0};
  std::atomic<u64> charged_{0};  // nanoseconds charged to shared budgets
  progress_line line_;
  memory_wait* const wait_;
};

class work_meter {
 public:
  explicit work_meter(watchdog& guard) : guard_(guard) {}

  // A warp has had its turn and executed this many instructions. Throws fault.
  void add(const warp& w, u64 instructions) {
    instructions_ += instructions;
    work_ += instructions + cost_of_a_turn;
    if (work_ >= between_checks) check(w);
  }
  void add_block() { ++blocks_; }
  // The grid has waited for memory, maybe for long. Throws fault.
  void add_wait(const warp& w) { check(w); }
  // This thread has no work left; this warp ran last in it. Throws fault.
  void finish(const warp& w) {
    if (instructions_ != 0) check(w);
  }

 private:
  static constexpr u64 between_checks = 16384;
  static constexpr u64 cost_of_a_turn = 16;  // in instructions: turns may be short

  void check(const warp& w);

  watchdog& guard_;
  u64 instructions_ = 0, blocks_ = 0;  // since the last check
  u64 work_ = between_checks;          // the first turn is followed by a check
};

}  // namespace kaio::emulator
