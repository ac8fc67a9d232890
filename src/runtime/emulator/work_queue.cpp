#include "runtime/emulator/work_queue.hpp"

#include <utility>

#include "emulator/waiting/launch_threads.hpp"
#include "emulator/waiting/memory_activity.hpp"

namespace kaio::runtime::emulated {
namespace {

thread_local emulator::memory_wait* current_wait = nullptr;

emulator::memory_activity& activity() { return emulator::memory_activity::shared(); }

}  // namespace

emulator::memory_wait* wait_of_thread() noexcept { return current_wait; }

bool work_queue::put(const work& what, bool always) {
  const std::scoped_lock lock(changing_);
  if (runs_) items_.push_back({what, always});
  return runs_;
}

void work_queue::run(work first, bool always) {
  const item it{std::move(first), always};
  {
    const std::scoped_lock lock(changing_);
    if (std::exchange(runs_, true)) return items_.push_back(it);
  }
  const bool ended = emulator::launch_threads::shared().run(
      [self = shared_from_this(), it](emulator::memory_wait& wait) {
        current_wait = &wait;
        self->serve(it);
        current_wait = nullptr;
      },
      [] {});
  if (ended) check();
}

// Runs the first item and those that were put after it.
void work_queue::serve(const item& first) noexcept {
  item now = first;
  for (;;) {
    try {
      now.run();
    } catch (...) {
      const std::scoped_lock lock(changing_);
      if (failure_ == nullptr) failure_ = std::current_exception();
    }
    activity().note_event();
    {
      const std::scoped_lock lock(changing_);
      while (!items_.empty() && failure_ != nullptr && !items_.front().always) items_.pop_front();
      if (items_.empty()) {
        runs_ = false;
        break;
      }
      now = std::move(items_.front());
      items_.pop_front();
    }
  }
  activity().note_event();
}

bool work_queue::is_idle() {
  const std::scoped_lock lock(changing_);
  return !runs_;
}

void work_queue::wait() {
  if (is_idle()) return;
  activity().note_event();  // until now this thread could write
  for (emulator::u64 seen = activity().events(); !is_idle(); seen = activity().events())
    activity().wait_for_event(seen);
}

std::exception_ptr work_queue::take_failure() {
  const std::scoped_lock lock(changing_);
  return std::exchange(failure_, nullptr);
}

void work_queue::check() {
  if (const std::exception_ptr failure = take_failure()) std::rethrow_exception(failure);
}

}  // namespace kaio::runtime::emulated
