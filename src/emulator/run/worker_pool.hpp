#pragma once
// Host threads kept between launches. Several launches may use the pool at a time. The caller also works, so
// each launch makes progress even when all helpers are busy.
//
//   helpers others(worker_pool::shared(), work);
//   ...                                           // the caller's own part, which may call others.call(3)

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

 private:
  friend class helpers;
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

// Other threads that do a part of a job of the calling thread. Short jobs end before helpers would wake, so the
// caller begins alone and calls helpers when that is worth it.
class helpers {
 public:
  // `work` must not throw, and outlives this object.
  helpers(worker_pool& pool, const std::function<void()>& work);
  ~helpers() { wait(); }
  helpers(const helpers&) = delete;
  helpers& operator=(const helpers&) = delete;

  // Lets up to `count` threads of the pool call `work`, each once.
  void call(unsigned count);
  // Returns when no helper is in `work` any more. Those that become free too late do not call it.
  void wait();

 private:
  worker_pool& pool_;
  const std::function<void()>& work_;
  std::shared_ptr<worker_pool::job> job_;  // nullptr before the call
};

}  // namespace kaio::emulator
