#pragma once
// Host threads kept between launches. Several launches may use the pool at a time. The caller also works, so
// each launch makes progress even when all helpers are busy.

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace kaio::emulator {

class worker_pool {
 public:
  // The pool of this process. It starts threads when they are first needed, and is never destroyed. At the
  // end of the process its threads are joined. Later launches, which destructors of static objects may make,
  // run on their own thread alone.
  static worker_pool& shared();
  worker_pool() = default;  // for shared()
  worker_pool(const worker_pool&) = delete;
  worker_pool& operator=(const worker_pool&) = delete;

  // Calls `work` on the calling thread and on up to `threads` - 1 helpers at a time. Returns when no thread
  // is in it any more. Helpers that become free too late do not call it. `work` must not throw.
  void run(unsigned threads, const std::function<void()>& work);

 private:
  struct job {
    const std::function<void()>* work;
    std::mutex mutex;
    std::condition_variable done;
    unsigned inside = 0;
    bool closed = false;
  };

  void grow(unsigned helpers);
  void join() noexcept;
  void serve();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::shared_ptr<job>> jobs_;  // one entry per wanted helper
  std::vector<std::thread> threads_;
  bool stop_ = false;
};

}  // namespace kaio::emulator
