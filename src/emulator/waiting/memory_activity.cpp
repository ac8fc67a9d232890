#include "emulator/waiting/memory_activity.hpp"

#include "host/lasting.hpp"
#include "host/system/process.hpp"

#include <algorithm>
#include <utility>

namespace kaio::emulator {
namespace {

using clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds host_pause{50};
constexpr std::chrono::seconds longest_proof_interval{10};

}  // namespace

memory_activity& memory_activity::shared() {
  static auto& one = *host::make_lasting<memory_activity>();
  return one;
}

memory_activity::running::running() {
  memory_activity& all = shared();
  const std::lock_guard lock(all.mutex_);
  ++all.running_;
}
memory_activity::running::~running() {
  memory_activity& all = shared();
  const std::lock_guard lock(all.mutex_);
  --all.running_;
  all.note_event_locked();
}

void memory_activity::note_event_locked() {
  ++events_;
  aware_ = idle_ = 0;
  last_event_ = clock::now();
  changed_.notify_all();
}

void memory_activity::note_event() {
  const std::lock_guard lock(mutex_);
  note_event_locked();
}

void memory_activity::wait_for_event(u64 seen) {
  std::unique_lock lock(mutex_);
  if (events() != seen || ended()) return;
  ++waiting_, ++idle_;
  changed_.wait_for(lock, host_pause, [&] { return events() != seen || ended(); });
  --waiting_;
  if (events() == seen) --idle_;
}

void memory_activity::end() {
  const std::lock_guard lock(mutex_);
  ended_ = true;
  changed_.notify_all();
}

bool memory_activity::others_may_write() const {
  if (has_host_buffers()) return true;
  return host::thread_count() - own_threads_.load() - waiting_ > 0;
}

// Asked by a launch that is not asleep, and has read again since the last event.
bool memory_activity::is_stuck() const {
  if (waiting_ == 0 || idle_ != waiting_ || running_ != 0 || aware_ + 1 != polls_) return false;
  return clock::now() - last_event_ >= std::chrono::nanoseconds(patience_.load()) || !others_may_write();
}

polling::polling() {
  const std::lock_guard lock(all_.mutex_);
  ++all_.running_;
  seen_ = all_.events();
}

polling::~polling() {
  const std::lock_guard lock(all_.mutex_);
  --(polls_ ? all_.polls_ : all_.running_);
  all_.note_event_locked();
}

void polling::begin() {
  const std::lock_guard lock(all_.mutex_);
  if (std::exchange(polls_, false)) {
    --all_.polls_;
    ++all_.running_;
  }
  seen_ = all_.events();
  pause_ = {};
}

poll_answer polling::wait(poll_state state, bool wrote) {
  std::unique_lock lock(all_.mutex_);
  const bool aware = seen_ == all_.events();
  if (!std::exchange(polls_, true)) {
    --all_.running_;
    ++all_.polls_;
  }
  if (wrote) {
    all_.note_event_locked();
    pause_ = {};
    proof_interval_ = std::chrono::milliseconds(50);
    next_proof_ = {};
  }
  // Others have written since it last read, so it reads again.
  if (!aware) {
    seen_ = all_.events();
    pause_ = {};
    return poll_answer::again;
  }
  seen_ = all_.events();  // its own writes are no news for it
  if (state != poll_state::timed && all_.is_stuck()) {
    if (state == poll_state::forever) return poll_answer::fault;
    if (clock::now() >= next_proof_) {
      next_proof_ = clock::now() + proof_interval_;
      proof_interval_ = std::min<std::chrono::milliseconds>(2 * proof_interval_, longest_proof_interval);
      polls_ = false;  // it runs while it looks for a proof
      --all_.polls_;
      ++all_.running_;
      return poll_answer::prove;
    }
  }
  ++all_.aware_;
  // Many launches that poll share the host's cores.
  const auto longest = longest_pause * std::max(1, all_.polls_ / 4);
  pause_ = std::clamp<std::chrono::microseconds>(2 * pause_, std::chrono::microseconds(20), longest);
  all_.changed_.wait_for(lock, pause_, [&] { return seen_ != all_.events() || all_.ended(); });
  if (seen_ == all_.events()) --all_.aware_;
  seen_ = all_.events();
  return poll_answer::again;
}

}  // namespace kaio::emulator
