#pragma once
// Threads for work that may have to wait until others write memory: launches that poll, streams that wait for a word.
// The caller waits for the work, as for a call. If the work polls, it stays on its thread, and the
// caller goes on: from then on the work is asynchronous.
//
//   const bool ended = launch_threads::shared().run(
//       [](memory_wait& w) { ... },     // on another thread; w is for launch::wait
//       [] { ... });                    // on that thread, after work that the caller has not waited for

#include "emulator/waiting/memory_wait.hpp"

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace kaio::emulator {

class launch_threads {
 public:
  // One for the process. At the end of the process, work that polls is cancelled, and the threads are joined.
  static launch_threads& shared();
  launch_threads() = default;  // for shared()
  launch_threads(const launch_threads&) = delete;
  launch_threads& operator=(const launch_threads&) = delete;

  // True: the work has ended; what it throws is thrown here. False: it goes on, and `afterwards` follows it. Neither
  // may throw then. `paused` is called on the work's thread when it polls for the first time, before the caller goes on.
  // `longest`: how long the caller waits for work that does not poll; 0: to its end.
  bool run(std::function<void(memory_wait&)> work, std::function<void()> afterwards,
           std::chrono::milliseconds longest = {});

 private:
  struct job;
  class job_wait;
  struct thread_state;

  void serve(const std::shared_ptr<thread_state>& mine);
  void join() noexcept;

  std::mutex mutex_;
  std::vector<std::shared_ptr<thread_state>> idle_;
  std::vector<std::thread> threads_;
  bool stop_ = false;
};

}  // namespace kaio::emulator
