#pragma once
// Who can still write the memory of this process's emulated devices: work that runs, launches that poll, host
// threads. It lets a launch that polls sleep until something happens, and decides when nothing can happen any
// more. All functions may be called from any thread.
//
//   memory_activity::running work;          // this thread does work of a device, for example a copy
//
//   a.note_event();                         // this host thread, which could write until now, waits for a device
//   for (auto seen = a.events(); !is_done(); seen = a.events()) a.wait_for_event(seen);
//
// A launch that polls for ever is a livelock if a host thread waits for a device, nothing runs, and all other
// launches poll too. If another thread of the host, or memory of the host, makes a write possible, this must last for
// KAIO_LIVELOCK_SECONDS.

#include "emulator/program/scalar.hpp"
#include "emulator/waiting/memory_wait.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>

namespace kaio::emulator {

class memory_activity {
 public:
  // One for the process. It is never destroyed.
  static memory_activity& shared();
  memory_activity() = default;  // for shared()
  memory_activity(const memory_activity&) = delete;
  memory_activity& operator=(const memory_activity&) = delete;

  // This thread does work of a device, for the scope.
  class running {
   public:
    running();
    ~running();
    running(const running&) = delete;
    running& operator=(const running&) = delete;
  };
  // Memory was written, or work has ended.
  void note_event();
  u64 events() const { return events_.load(std::memory_order_acquire); }
  // Waits for an event after the first `seen` ones, or for some milliseconds. Meanwhile this host thread does nothing.
  void wait_for_event(u64 seen);

  // Buffers that are memory of the host: while there are some, any thread of the host may write.
  void add_host_buffers(int more) { host_buffers_ += more; }
  bool has_host_buffers() const { return host_buffers_.load() > 0; }

  // Threads of the emulator itself, which never write by themselves.
  void add_own_threads(int more) { own_threads_ += more; }
  // How long nothing may happen before launches that poll are a livelock.
  void set_patience(std::chrono::nanoseconds patience) { patience_ = patience.count(); }

  // The end of the process: waits end at once.
  void end();
  bool ended() const { return ended_.load(); }

 private:
  friend class polling;
  void note_event_locked();
  bool is_stuck() const;
  bool others_may_write() const;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<u64> events_{0};
  std::chrono::steady_clock::time_point last_event_ = std::chrono::steady_clock::now();
  int running_ = 0;  // threads that do work
  int waiting_ = 0;  // host threads that wait
  int idle_ = 0;     // those of them that know the last event
  int polls_ = 0;    // launches that poll, whether asleep or reading again
  int aware_ = 0;    // those of them that are asleep, and have read again since the last event
  std::atomic<int> host_buffers_{0};
  std::atomic<int> own_threads_{0};
  std::atomic<std::chrono::nanoseconds::rep> patience_{
      std::chrono::nanoseconds(std::chrono::seconds(10)).count()};
  std::atomic<bool> ended_{false};
};

// The waits of a thread's launches, one after another. While it exists, its thread counts as running, except when the
// launch polls.
class polling {
 public:
  polling();
  ~polling();
  polling(const polling&) = delete;
  polling& operator=(const polling&) = delete;

  // The thread goes on to other work.
  void begin();
  // As memory_wait::wait.
  poll_answer wait(poll_state state, bool wrote);

 private:
  static constexpr std::chrono::microseconds longest_pause{1000};

  memory_activity& all_ = memory_activity::shared();
  bool polls_ = false;  // counts as polling, not as running
  u64 seen_ = 0;        // events before it last read the memory
  std::chrono::microseconds pause_{0};
  std::chrono::steady_clock::time_point next_proof_{};
  std::chrono::milliseconds proof_interval_{50};
};

}  // namespace kaio::emulator
