#include "emulator/run/worker_pool.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

#include "emulator/waiting/memory_activity.hpp"
#include "host/lasting.hpp"

namespace kaio::emulator {

worker_pool& worker_pool::shared() {
  static worker_pool& pool = []() -> worker_pool& {
    memory_activity::shared();
    auto& made = *host::make_lasting<worker_pool>();
    host::at_end([] { shared().join(); });
    return made;
  }();
  return pool;
}

void worker_pool::join() noexcept {
  std::vector<std::thread> threads;
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
    threads.swap(threads_);
    jobs_.clear();
  }
  wake_.notify_all();
  for (std::thread& t : threads) t.join();
}

void worker_pool::grow(unsigned helpers) {
  while (!stop_ && threads_.size() < helpers) {
    try {
      threads_.emplace_back([this] { serve(); });
      memory_activity::shared().add_own_threads(1);
    } catch (const std::system_error&) {
      return;  // fewer helpers than wanted: the caller does the work
    }
  }
}

void worker_pool::serve() {
  for (;;) {
    std::shared_ptr<job> j;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return stop_ || !jobs_.empty(); });
      if (stop_) return;
      j = std::move(jobs_.front());
      jobs_.pop_front();
    }
    {
      const std::lock_guard lock(j->mutex);
      if (j->closed) continue;
      ++j->inside;
    }
    (*j->work)();
    const std::lock_guard lock(j->mutex);
    --j->inside;
    j->done.notify_all();
  }
}

void worker_pool::run(unsigned threads, const std::function<void()>& work) {
  const unsigned helpers = std::min(threads, 256u) - (threads == 0 ? 0 : 1);
  const auto j = std::make_shared<job>();
  j->work = &work;
  if (helpers != 0) {
    {
      const std::lock_guard lock(mutex_);
      grow(helpers);
      for (unsigned i = 0; i < helpers && !stop_; ++i) jobs_.push_back(j);
    }
    wake_.notify_all();
  }
  work();
  std::unique_lock lock(j->mutex);
  j->closed = true;
  j->done.wait(lock, [&] { return j->inside == 0; });
}

}  // namespace kaio::emulator
