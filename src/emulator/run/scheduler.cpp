#include "emulator/run/scheduler.hpp"

#include "emulator/run/livelock.hpp"
#include "emulator/run/run_cluster.hpp"
#include "emulator/run/worker_pool.hpp"

#include <algorithm>
#include <atomic>
#include <cfenv>
#include <chrono>
#include <deque>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace kaio::emulator {
namespace {

constexpr u64 no_cluster = std::numeric_limits<u64>::max();
constexpr u64 turn_steps = 16384;               // a turn of a cluster that communicates
constexpr u64 random_turn = 1024;               // at most, in a random schedule
constexpr u64 starved_cluster_turns = 16;       // the starved cluster has one turn in 16
constexpr u64 resident_bytes = u64{512} << 20;  // for clusters that take turns
constexpr u64 most_resident = 1024;
constexpr u64 lone_steps = 4096;                     // of the first cluster, until other threads are called
constexpr std::chrono::microseconds lone_time{200};  // of the first clusters, if they are shorter
constexpr u64 spinning_steps = 2048;  // a turn of a cooperative grid: blocks often wait for each other

// The emulator computes in the default floating-point environment, whatever the host program has set.
class default_floating_point {
 public:
  default_floating_point() {
    std::fegetenv(&before_);
    std::fesetenv(FE_DFL_ENV);
#if defined(_WIN32)
    std::fesetround(FE_TONEAREST);  // MinGW's fesetenv leaves the mode of the SSE instructions
#endif
  }
  ~default_floating_point() { std::fesetenv(&before_); }
  default_floating_point(const default_floating_point&) = delete;
  default_floating_point& operator=(const default_floating_point&) = delete;

 private:
  std::fenv_t before_;
};

// The cluster to start at this turn: by number, or as the schedule orders.
u64 number_of(const grid& g, u64 turn) {
  return g.order.kind == schedule_kind::reverse ? g.clusters() - 1 - turn : turn;
}

const warp& a_warp_of(const cluster& c) { return c.blocks.front()->warps.front(); }

// Runs clusters in the order of their numbers, each to its end, on several threads.
void run_independent(const grid& g, unsigned threads, watchdog& guard) {
  const u64 count = g.clusters();
  const bool may_spin = g.kernel.may_spin || g.cluster_blocks.count() > 1;
  // Clusters that a thread takes at a time: several only if enough remain to keep all threads busy.
  const u64 together = std::clamp<u64>(count / threads / 64, 1, 64);
  std::atomic<u64> next{0};
  std::atomic<u64> first_fault{no_cluster};  // clusters from here on need not run
  const unsigned wanted = static_cast<unsigned>(std::min<u64>(threads, count)) - 1;
  std::mutex mutex;
  std::exception_ptr error;

  std::function<void()> work;
  helpers others(worker_pool::shared(), work);
  const std::thread::id caller = std::this_thread::get_id();
  work = [&] {
    const default_floating_point environment;
    work_meter meter(guard);
    u64 at = no_cluster;
    // The caller works alone until the launch has proved to be long. Only the first cluster pauses for that, always
    // at the same place: results and counts of instructions depend neither on time nor on threads.
    bool alone = std::this_thread::get_id() == caller;
    const auto begin = std::chrono::steady_clock::now();
    try {
      std::deque<std::unique_ptr<cluster>> running;
      running.push_back(std::make_unique<cluster>(g));
      cluster& c = *running.front();
      livelock_watch watch(g);
      for (u64 end = 0;; ++at) {
        if (at == no_cluster || at >= end) {
          at = next.fetch_add(together);
          end = std::min(count, at + together);
        }
        if (at >= count || at > first_fault.load()) return meter.finish(a_warp_of(c));
        c.start(at);
        watch.reset();
        const u64 turn = may_spin ? turn_steps : std::numeric_limits<u64>::max();
        while (run_cluster(c, alone && at == 0 ? lone_steps : turn, meter) != block_status::finished) {
          if (may_spin) watch.turn(running);
          if (alone && at == 0) others.call(wanted), alone = false;
        }
        if (alone && std::chrono::steady_clock::now() - begin > lone_time) others.call(wanted), alone = false;
      }
    } catch (...) {
      const std::lock_guard lock(mutex);
      const u64 key = at == no_cluster ? 0 : at;
      if (key < first_fault.load()) {
        first_fault = key;
        error = std::current_exception();
      }
    }
  };
  work();
  others.wait();
  if (error) std::rethrow_exception(error);
}

// Takes the cluster, of the started ones, whose turn it is.
std::unique_ptr<cluster> take_paused(std::deque<std::unique_ptr<cluster>>& paused, const grid& g,
                                     random_source& random) {
  auto chosen = paused.begin();
  if (g.order.kind == schedule_kind::random)
    chosen += static_cast<std::ptrdiff_t>(random.below(paused.size()));
  if (g.order.kind == schedule_kind::starve && paused.size() > 1) {
    const ptx::dim3& b = g.blocks;
    const auto starved = [&](const cluster& c) {
      const ptx::dim3& i = c.blocks.front()->index;
      return i.x + u64{b.x} * (i.y + u64{b.y} * i.z) == g.order.seed % b.count();
    };
    if (starved(**chosen) && random.below(starved_cluster_turns) != 0) ++chosen;
  }
  std::unique_ptr<cluster> result = std::move(*chosen);
  paused.erase(chosen);
  return result;
}

// Runs clusters in turns. A limited number is resident; when one ends, the next one starts.
void run_in_turns(const grid& g, watchdog& guard) {
  const default_floating_point environment;
  work_meter meter(guard);
  const u64 count = g.clusters();
  const u64 bytes = (u64{g.warps()} * g.initial_file.size() + g.shared_bytes +
                     u64{g.kernel.local_bytes} * g.warps() * warp_lanes + 1) *
                    g.cluster_blocks.count();
  const u64 resident = g.cooperative ? count : std::clamp<u64>(resident_bytes / bytes, 2, most_resident);
  const u64 steps = g.cooperative ? spinning_steps : turn_steps;
  random_source random{g.order.seed};
  livelock_watch watch(g, guard.wait());
  std::vector<std::unique_ptr<cluster>> idle;
  std::deque<std::unique_ptr<cluster>> paused;
  u64 next = 0;
  while (next < count || !paused.empty()) {
    std::unique_ptr<cluster> c;
    if (next < count && paused.size() < resident) {
      if (idle.empty()) {
        c = std::make_unique<cluster>(g);
      } else {
        c = std::move(idle.back());
        idle.pop_back();
      }
      c->start(number_of(g, next++));
      watch.reset();
    } else {
      c = take_paused(paused, g, random);
    }
    const u64 longest = watch.is_waiting() ? spinning_steps : steps;
    const u64 turn = g.order.kind == schedule_kind::random ? 1 + random.below(random_turn) : longest;
    if (run_cluster(*c, turn, meter) == block_status::finished) {
      idle.push_back(std::move(c));
      watch.reset();
    } else {
      paused.push_back(std::move(c));
      if (watch.turn(paused)) meter.add_wait(a_warp_of(*paused.back()));
    }
  }
  meter.finish(a_warp_of(*idle.back()));
}

}  // namespace

void run_grid(const grid& g, unsigned threads, watchdog& guard) {
  if (g.kernel.blocks_communicate || g.cooperative || g.clusters() == 1 || !g.order.is_default()) {
    run_in_turns(g, guard);
    return;
  }
  const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  run_independent(g, threads == 0 ? cores : threads, guard);
}

}  // namespace kaio::emulator
