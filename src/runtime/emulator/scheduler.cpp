#include "runtime/emulator/scheduler.hpp"

#include "runtime/emulator/standstill.hpp"
#include "runtime/emulator/worker_pool.hpp"

#include <algorithm>
#include <atomic>
#include <cfenv>
#include <deque>
#include <exception>
#include <limits>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace kaio::runtime::emulator {
namespace {

constexpr u64 no_block = std::numeric_limits<u64>::max();
constexpr u64 turn_steps = 16384;               // of a block that communicates, before another has its turn
constexpr u64 resident_bytes = u64{512} << 20;  // of blocks that take turns
constexpr u64 most_resident = 1024;
constexpr u64 spinning_steps = 2048;  // a turn of a cooperative grid, whose blocks often wait for each other

// The emulator computes in the default floating-point environment, whatever the host program has set.
class default_floating_point {
 public:
  default_floating_point() {
    std::fegetenv(&before_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~default_floating_point() { std::fesetenv(&before_); }
  default_floating_point(const default_floating_point&) = delete;
  default_floating_point& operator=(const default_floating_point&) = delete;

 private:
  std::fenv_t before_;
};

ptx::dim3 index_of(const grid& g, u64 linear) {
  return {static_cast<u32>(linear % g.blocks.x), static_cast<u32>(linear / g.blocks.x % g.blocks.y),
          static_cast<u32>(linear / g.blocks.x / g.blocks.y)};
}

// Blocks in the order of their indices, each to its end, on several threads.
void run_independent(const grid& g, unsigned threads) {
  const u64 count = g.blocks.count();
  std::atomic<u64> next{0};
  std::atomic<u64> first_fault{no_block};  // blocks from here on need not run any more
  std::mutex mutex;
  std::exception_ptr error;

  const auto work = [&] {
    const default_floating_point environment;
    u64 at = no_block;
    try {
      block b(g);
      for (;;) {
        at = next.fetch_add(1);
        if (at >= count || at > first_fault.load()) return;
        b.start(index_of(g, at));
        while (b.run(std::numeric_limits<u64>::max()) != block_status::finished) {
        }
      }
    } catch (...) {
      const std::lock_guard lock(mutex);
      const u64 key = at == no_block ? 0 : at;
      if (key < first_fault.load()) {
        first_fault = key;
        error = std::current_exception();
      }
    }
  };
  worker_pool::shared().run(static_cast<unsigned>(std::min<u64>(threads, count)), work);
  if (error) std::rethrow_exception(error);
}

// Blocks take turns; a limited number of them is resident, and the next one starts when one of those ends.
void run_in_turns(const grid& g) {
  const default_floating_point environment;
  const u64 count = g.blocks.count();
  const u64 bytes = u64{g.warps()} * g.initial_file.size() + g.shared_bytes +
                    u64{g.kernel.local_bytes} * g.warps() * warp_lanes + 1;
  const u64 resident = g.cooperative ? count : std::clamp<u64>(resident_bytes / bytes, 2, most_resident);
  const u64 steps = g.cooperative ? spinning_steps : turn_steps;
  standstill_watch watch(g.kernel);
  std::vector<std::unique_ptr<block>> idle;
  std::deque<std::unique_ptr<block>> paused;
  u64 next = 0;
  while (next < count || !paused.empty()) {
    std::unique_ptr<block> b;
    if (next < count && paused.size() < resident) {
      if (idle.empty()) {
        b = std::make_unique<block>(g);
      } else {
        b = std::move(idle.back());
        idle.pop_back();
      }
      b->start(index_of(g, next++));
      watch.reset();
    } else {
      b = std::move(paused.front());
      paused.pop_front();
    }
    if (b->run(steps) == block_status::finished) {
      idle.push_back(std::move(b));
      watch.reset();
    } else {
      paused.push_back(std::move(b));
      watch.turn(paused);
    }
  }
}

}  // namespace

void run_grid(const grid& g, unsigned threads) {
  if (g.kernel.blocks_communicate || g.cooperative || g.blocks.count() == 1) {
    run_in_turns(g);
    return;
  }
  const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  run_independent(g, threads == 0 ? cores : threads);
}

}  // namespace kaio::runtime::emulator
