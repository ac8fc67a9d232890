#include "emulator/waiting/launch_threads.hpp"

#include "emulator/waiting/memory_activity.hpp"
#include "host/lasting.hpp"

#include <exception>
#include <system_error>
#include <utility>

namespace kaio::emulator {
struct launch_threads::job {
  std::function<void(memory_wait&)> work;
  std::function<void()> afterwards;
  std::mutex mutex;
  std::condition_variable changed;
  bool ended = false;
  bool alone = false;  // the caller has gone on
  std::exception_ptr error;

  // The caller need not wait any longer.
  void let_go() {
    const std::lock_guard lock(mutex);
    if (std::exchange(alone, true)) return;
    changed.notify_all();
  }
};

struct launch_threads::thread_state {
  std::mutex mutex;
  std::condition_variable changed;
  std::shared_ptr<job> next;
  bool stop = false;
};

// The wait of one piece of work. The first time, its caller goes on.
class launch_threads::job_wait final : public memory_wait {
 public:
  explicit job_wait(job& j) : job_(j) {}
  void begin() override { polling_.begin(); }
  poll_answer wait(poll_state state, bool wrote) override {
    const bool first = !std::exchange(waited_, true);
    if (first) job_.let_go();
    return polling_.wait(state, wrote);
  }

 private:
  job& job_;
  polling polling_;
  bool waited_ = false;
};

launch_threads& launch_threads::shared() {
  static launch_threads& threads = []() -> launch_threads& {
    memory_activity::shared();
    auto& made = *host::make_lasting<launch_threads>();
    host::at_end([] { shared().join(); });
    return made;
  }();
  return threads;
}

void launch_threads::join() noexcept {
  memory_activity::shared().end();
  std::vector<std::thread> threads;
  std::vector<std::shared_ptr<thread_state>> idle;
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
    threads.swap(threads_);
    idle.swap(idle_);
  }
  for (const auto& t : idle) {
    const std::lock_guard lock(t->mutex);
    t->stop = true;
    t->changed.notify_all();
  }
  for (std::thread& t : threads) t.join();
}

void launch_threads::serve(const std::shared_ptr<thread_state>& mine) {
  for (;;) {
    std::shared_ptr<job> j;
    {
      std::unique_lock lock(mine->mutex);
      mine->changed.wait(lock, [&] { return mine->stop || mine->next != nullptr; });
      if (mine->next == nullptr) return;
      j = std::move(mine->next);
    }
    {
      job_wait wait(*j);
      try {
        j->work(wait);
      } catch (...) {
        j->error = std::current_exception();
      }
      bool alone = false;
      {
        const std::lock_guard lock(j->mutex);
        j->ended = true;
        alone = j->alone;
        if (!alone) j->changed.notify_all();
      }
      if (alone) j->afterwards();
    }
    j.reset();
    const std::lock_guard lock(mutex_);
    if (stop_) return;
    idle_.push_back(mine);
  }
}

bool launch_threads::run(std::function<void(memory_wait&)> work, std::function<void()> afterwards,
                         std::chrono::milliseconds longest) {
  const auto j = std::make_shared<job>();
  j->work = std::move(work);
  j->afterwards = std::move(afterwards);
  std::shared_ptr<thread_state> thread;
  {
    const std::lock_guard lock(mutex_);
    if (!stop_ && idle_.empty()) {
      thread = std::make_shared<thread_state>();
      try {
        threads_.emplace_back([this, thread] { serve(thread); });
        memory_activity::shared().add_own_threads(1);
      } catch (const std::system_error&) {
        thread = nullptr;
      }
    } else if (!stop_) {
      thread = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  if (thread == nullptr) {
    // Without a thread the caller does the work, and waits as long as it polls.
    job_wait wait(*j);
    j->work(wait);
    return true;
  }
  {
    const std::lock_guard lock(thread->mutex);
    thread->next = j;
    thread->changed.notify_all();
  }
  std::unique_lock lock(j->mutex);
  const auto is_over = [&] { return j->ended || j->alone; };
  if (longest.count() != 0)
    j->changed.wait_for(lock, longest, is_over);
  else
    j->changed.wait(lock, is_over);
  // Work that has ended right after the caller was let go was asynchronous too.
  if (j->alone || !j->ended) {
    j->alone = true;
    return false;
  }
  if (j->error) std::rethrow_exception(j->error);
  return true;
}

}  // namespace kaio::emulator
