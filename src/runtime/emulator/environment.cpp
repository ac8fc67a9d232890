#include "runtime/emulator/environment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>

#include "emulator/sanitizer/sanitizer.hpp"
#include "emulator/waiting/memory_activity.hpp"
#include "host/lasting.hpp"
#include "runtime/base/elevated.hpp"
#include "runtime/emulator/checked_thread.hpp"
#include "runtime/emulator/environment_budget.hpp"
#include "runtime/emulator/environment_profile.hpp"

namespace kaio::runtime {
namespace {

std::string_view value_of(const char* name) {
  const char* const text = std::getenv(name);
  return text == nullptr ? std::string_view{} : std::string_view{text};
}

// One for each setting of the variables. They outlive static objects, whose destructors launch too. At the end
// of the program they report what was suppressed.
struct sanitizers {
  std::mutex mutex;
  std::map<std::tuple<std::string, std::string, std::string>, std::unique_ptr<emulator::sanitizer>> all;
};

sanitizers& of_the_program() {
  static sanitizers& made = []() -> sanitizers& {
    host::at_end([] {
      sanitizers& program = of_the_program();
      const std::lock_guard lock(program.mutex);
      for (const auto& [settings, s] : program.all)
        if (s != nullptr) s->report_suppressed();
    });
    return *host::make_lasting<sanitizers>();
  }();
  return made;
}

// nullptr: the variables do not ask for one.
emulator::sanitizer* environment_sanitizer() {
  const std::string checks(value_of("KAIO_SANITIZE")), reports(value_of("KAIO_SANITIZE_ERRORS")),
      file(file_variable("KAIO_SUPPRESSIONS"));
  if (checks.empty()) return nullptr;
  sanitizers& program = of_the_program();
  const std::lock_guard lock(program.mutex);
  std::unique_ptr<emulator::sanitizer>& found = program.all[{checks, reports, file}];
  if (found == nullptr) {
    emulator::sanitizer_options options;
    options.checks = emulator::sanitizer_options::parse_checks(checks, "KAIO_SANITIZE");
    if (!reports.empty())
      options.most_reports = emulator::sanitizer_options::parse_reports(reports, "KAIO_SANITIZE_ERRORS");
    options.suppressions = file;
    found = std::make_unique<emulator::sanitizer>(std::move(options));
  }
  return found->options().checks.empty() ? nullptr : found.get();
}

}  // namespace

void apply_environment(emulator::launch& l) {
  if (const char* text = std::getenv("KAIO_SCHEDULE"); text != nullptr && *text != '\0') {
    const std::optional<emulator::schedule> order = emulator::schedule::parse(text);
    if (!order)
      throw emulator::launch_error(fmt::format(
          "kaio: KAIO_SCHEDULE is '{}'; it may be round_robin, reverse, starve:N or random:N", text));
    l.order = *order;
  }
  if (const std::string_view threads = value_of("KAIO_EMULATOR_THREADS"); !threads.empty()) {
    constexpr unsigned most = 256;
    unsigned count = 0;
    const auto [end, problem] = std::from_chars(threads.data(), threads.data() + threads.size(), count);
    if (problem != std::errc{} || end != threads.data() + threads.size() || count > most)
      throw emulator::launch_error(fmt::format(
          "kaio: KAIO_EMULATOR_THREADS is '{}'; it may be a number of host threads up to {}, or 0 for all cores",
          threads, most));
    if (l.threads == 0) l.threads = count;
  }
  l.budgets = environment_budgets();
  emulator::memory_activity::shared().set_patience(environment_patience());
  if (const std::string_view progress = value_of("KAIO_PROGRESS"); progress == "off")
    l.progress_after = std::chrono::nanoseconds::max();
  else if (!progress.empty() && progress != "on")
    throw emulator::launch_error(fmt::format("kaio: KAIO_PROGRESS is '{}'; it may be on or off", progress));
  // A launch that is used again already has its observers.
  const auto watch = [&](emulator::grid_observer* o) {
    if (o != nullptr && std::find(l.observers.begin(), l.observers.end(), o) == l.observers.end())
      l.observers.push_back(o);
  };
  emulator::grid_observer* const of_thread = sanitizer_of_thread();
  watch(of_thread != nullptr ? of_thread : environment_sanitizer());
  watch(environment_profile());
}

}  // namespace kaio::runtime
