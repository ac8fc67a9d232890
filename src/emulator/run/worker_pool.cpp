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

helpers::helpers(worker_pool& pool, const std::function<void()>& work) : pool_(pool), work_(work) {}

void helpers::call(unsigned count) {
  constexpr unsigned most = 255;
  count = std::min(count, most);
  if (count == 0 || job_ != nullptr) return;
  job_ = std::make_shared<worker_pool::job>();
  job_->work = &work_;
  {
    const std::lock_guard lock(pool_.mutex_);
    pool_.grow(count);
    for (unsigned i = 0; i < count && !pool_.stop_; ++i) pool_.jobs_.push_back(job_);
  }
  for (unsigned i = 0; i < count; ++i) pool_.wake_.notify_one();
}

void helpers::wait() {
  if (job_ == nullptr) return;
  {
    const std::lock_guard lock(pool_.mutex_);
    std::erase(pool_.jobs_, job_);
  }
  std::unique_lock lock(job_->mutex);
  job_->closed = true;
  job_->done.wait(lock, [&] { return job_->inside == 0; });
}

}  // namespace kaio::emulator
