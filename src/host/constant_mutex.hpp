#pragma once
// A mutex that is ready before any code of the program runs: constinit constant_mutex changing;

#if defined(_WIN32)
#include <atomic>
#else
#include <mutex>
#endif

namespace kaio::host {

#if defined(_WIN32)
// The one of MinGW's library is made by code that runs at the start.
class constant_mutex {
 public:
  void lock() noexcept {
    while (taken_.test_and_set(std::memory_order_acquire)) taken_.wait(true, std::memory_order_relaxed);
  }
  void unlock() noexcept {
    taken_.clear(std::memory_order_release);
    taken_.notify_one();
  }

 private:
  std::atomic_flag taken_;
};
#else
using constant_mutex = std::mutex;
#endif

}  // namespace kaio::host
