#include "emulator/sanitizer/sanitizer.hpp"

#include "emulator/sanitizer/watcher.hpp"
#include "host/printable.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <vector>

namespace kaio::emulator {
namespace {

constexpr u32 latest_time = u32{3} << 30;  // times restart before they wrap

}  // namespace

struct sanitizer::state {
  explicit state(sanitizer_options o)
      : options(std::move(o)),
        suppressed(options.suppressions.empty() ? sanitizing::suppressions{}
                                                : sanitizing::suppressions::of_file(options.suppressions)) {}

  sanitizer_options options;
  sanitizing::suppressions suppressed;
  std::atomic<std::uint64_t> reported{0};  // suppressed reports already printed

  // The records of one grid at a time.
  struct records {
    const grid* of = nullptr;  // nullptr: no grid has them now
    bool waits = false;        // it waits for others
    sanitizing::causality order;
    sanitizing::record_pool pool;
    sanitizing::line_store store;
    sanitizing::preceding_grids preceding;
    std::unique_ptr<sanitizing::reporter> reports;
    std::unique_ptr<sanitizing::watched_grid> current;
  };
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::unique_ptr<records>> all;

  // Records for a new grid. If all grids wait for others, they are new ones.
  records& take(const grid& g) {
    std::unique_lock lock(mutex);
    for (;;) {
      bool one_runs = false;
      for (const auto& r : all) {
        if (r->of == nullptr) continue;
        one_runs = one_runs || !r->waits;
      }
      if (!one_runs) break;
      changed.wait(lock);
    }
    const auto free = std::find_if(all.begin(), all.end(), [](const auto& r) { return r->of == nullptr; });
    records& taken = free != all.end() ? **free : *all.emplace_back(std::make_unique<records>());
    taken.of = &g;
    taken.waits = false;
    return taken;
  }
  records& of(const grid& g) {
    const std::lock_guard lock(mutex);
    return **std::find_if(all.begin(), all.end(), [&](const auto& r) { return r->of == &g; });
  }
};

sanitizer::sanitizer(sanitizer_options options) : state_(std::make_unique<state>(std::move(options))) {}

sanitizer::~sanitizer() { report_suppressed(); }

void sanitizer::report_suppressed() noexcept {
  if (state_->reported.exchange(suppressed()) != suppressed())
    std::fprintf(stderr, "kaio: %llu report%s of the sanitizer suppressed by %s\n",
                 static_cast<unsigned long long>(suppressed()), suppressed() == 1 ? "" : "s",
                 host::printable(state_->suppressed.file()).c_str());
}

const sanitizer_options& sanitizer::options() const { return state_->options; }
std::uint64_t sanitizer::suppressed() const { return state_->suppressed.count(); }
bool sanitizer::follows_writes() const { return state_->options.checks.has(check::uninitialised); }

void sanitizer::begin(const grid& g) {
  state::records& r = state_->take(g);
  struct release {
    sanitizer* of;
    const grid* g;
    ~release() {
      if (of != nullptr) of->end(*g);
    }
  } without_records{this, &g};
  if (r.order.now > latest_time) {
    r.store.clear();
    r.order.now = 1;
  }
  r.order.clear();
  r.pool.clear();
  r.reports = std::make_unique<sanitizing::reporter>(state_->options, state_->suppressed);
  r.current =
      std::make_unique<sanitizing::watched_grid>(g, *r.reports, r.order, r.pool, r.store, r.preceding);
  without_records.of = nullptr;
}

std::unique_ptr<observer> sanitizer::watch(block& b) {
  return std::make_unique<sanitizing::watcher>(*state_->of(b.launched).current, b);
}

void sanitizer::waits(const grid& g) {
  const std::lock_guard lock(state_->mutex);
  for (const auto& r : state_->all)
    if (r->of == &g) r->waits = true;
  state_->changed.notify_all();
}

void sanitizer::conclude(const grid& g) {
  state::records& r = state_->of(g);
  r.current->early.report_all();
  r.reports->conclude(nullptr);
}

void sanitizer::conclude(const grid& g, const fault& f) {
  state::records& r = state_->of(g);
  // The read values may have caused the kernel's fault.
  if (!r.reports->raised()) r.current->early.report_all();
  r.reports->conclude(&f);
}

void sanitizer::end(const grid& g) {
  state::records& r = state_->of(g);
  r.current.reset();
  r.reports.reset();
  const std::lock_guard lock(state_->mutex);
  r.of = nullptr;
  state_->changed.notify_all();
}

}  // namespace kaio::emulator
