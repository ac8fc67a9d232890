#include "emulator/sanitizer/sanitizer.hpp"

#include "emulator/sanitizer/watcher.hpp"
#include "host/printable.hpp"

#include <atomic>
#include <cstdio>
#include <mutex>

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
  std::mutex one_at_a_time;                // for one grid
  sanitizing::causality order;
  sanitizing::record_pool pool;
  sanitizing::line_store store;
  sanitizing::preceding_grids preceding;
  std::unique_ptr<sanitizing::reporter> reports;
  std::unique_ptr<sanitizing::watched_grid> current;
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
  std::unique_lock lock(state_->one_at_a_time);
  if (state_->order.now > latest_time) {
    state_->store.clear();
    state_->order.now = 1;
  }
  state_->order.clear();
  state_->pool.clear();
  state_->reports = std::make_unique<sanitizing::reporter>(state_->options, state_->suppressed);
  state_->current = std::make_unique<sanitizing::watched_grid>(
      g, *state_->reports, state_->order, state_->pool, state_->store, state_->preceding);
  lock.release();  // held until the end of the grid
}

std::unique_ptr<observer> sanitizer::watch(block& b) {
  return std::make_unique<sanitizing::watcher>(*state_->current, b);
}

void sanitizer::conclude(const grid&) {
  state_->current->early.report_all();
  state_->reports->conclude(nullptr);
}

void sanitizer::conclude(const grid&, const fault& f) {
  // The read values may have caused the kernel's fault.
  if (!state_->reports->raised()) state_->current->early.report_all();
  state_->reports->conclude(&f);
}

void sanitizer::end(const grid&) {
  state_->current.reset();
  state_->reports.reset();
  state_->one_at_a_time.unlock();
}

}  // namespace kaio::emulator
