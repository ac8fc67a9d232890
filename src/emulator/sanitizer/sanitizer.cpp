#include "emulator/sanitizer/sanitizer.hpp"

#include "emulator/sanitizer/watcher.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdio>
#include <limits>
#include <mutex>

namespace kaio::emulator {
namespace {

constexpr std::string_view names[check_count] = {"memory",   "uninitialised", "races",
                                                 "barriers", "async",         "same_value"};
constexpr u32 latest_time = u32{3} << 30;  // times begin anew before they wrap

}  // namespace

std::string_view name_of(check c) { return names[static_cast<unsigned>(c)]; }

check_set sanitizer_options::parse_checks(std::string_view text, std::string_view called) {
  check_set result;
  bool first = true;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    std::string_view word = text.substr(at, comma - at);
    at = comma + 1;
    const bool without = word.starts_with('-');
    if (without) word.remove_prefix(1);
    if (word == "all") {
      result = without ? check_set{} : check_set::all();
    } else {
      bool known = false;
      for (unsigned c = 0; c < check_count; ++c) {
        if (names[c] != word) continue;
        // A list that begins with what it leaves out is about all.
        if (without && first) result = check_set::all();
        result.set(static_cast<check>(c), !without);
        known = true;
      }
      if (!known)
        throw launch_error(fmt::format(
            "kaio: {} is '{}', and '{}' is no check; it may be all, memory, uninitialised, races, "
            "barriers, async, same_value, or a list of them with commas, with - before one to "
            "leave it out",
            called, text, word));
    }
    first = false;
  }
  return result;
}

std::uint64_t sanitizer_options::parse_reports(std::string_view text, std::string_view called) {
  if (text == "continue") return std::numeric_limits<std::uint64_t>::max();
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value == 0)
    throw launch_error(
        fmt::format("kaio: {} is '{}'; it may be a number of reports from 1, or continue", called, text));
  return value;
}

struct sanitizer::state {
  explicit state(sanitizer_options o)
      : options(std::move(o)),
        suppressed(options.suppressions.empty() ? sanitizing::suppressions{}
                                                : sanitizing::suppressions(options.suppressions)) {}

  sanitizer_options options;
  sanitizing::suppressions suppressed;
  std::mutex one_at_a_time;  // a grid
  sanitizing::causality order;
  sanitizing::record_pool pool;
  sanitizing::line_store store;
  std::unique_ptr<sanitizing::reporter> reports;
  std::unique_ptr<sanitizing::watched> current;
};

sanitizer::sanitizer(sanitizer_options options) : state_(std::make_unique<state>(std::move(options))) {}

sanitizer::~sanitizer() {
  if (suppressed() != 0)
    std::fprintf(stderr, "kaio: %llu report%s of the sanitizer suppressed by %s\n",
                 static_cast<unsigned long long>(suppressed()), suppressed() == 1 ? "" : "s",
                 state_->suppressed.file().c_str());
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
  state_->current =
      std::make_unique<sanitizing::watched>(g, *state_->reports, state_->order, state_->pool, state_->store);
  lock.release();  // until the end of the grid
}

std::unique_ptr<observer> sanitizer::watch(block& b) {
  return std::make_unique<sanitizing::watcher>(*state_->current, b);
}

void sanitizer::conclude(const grid&) {
  state_->current->tell_early_reads(sanitizing::watched::no_block);
  state_->reports->conclude(nullptr);
}

void sanitizer::conclude(const grid&, const fault& f) {
  // A fault of the kernel may well come from what was read.
  if (!state_->reports->raised()) state_->current->tell_early_reads(sanitizing::watched::no_block);
  state_->reports->conclude(&f);
}

void sanitizer::end(const grid&) {
  state_->current.reset();
  state_->reports.reset();
  state_->one_at_a_time.unlock();
}

}  // namespace kaio::emulator
