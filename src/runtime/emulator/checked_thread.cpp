#include "runtime/emulator/checked_thread.hpp"

#include <kaio/runtime/error.hpp>

#include <memory>
#include <utility>

#include "emulator/program/error.hpp"
#include "emulator/sanitizer/sanitizer.hpp"

namespace kaio::runtime {
namespace {

struct checked_thread {
  explicit checked_thread(emulator::sanitizer_options options) : sanitizer(std::move(options)) {}
  emulator::sanitizer sanitizer;
  thread_checks found;
};
// A plain pointer: destructors of a thread's objects may launch too.
thread_local checked_thread* this_thread = nullptr;

}  // namespace

void begin_checks(std::string_view checks, std::uint64_t most_reports) {
  if (this_thread != nullptr)
    throw invalid_argument("kaio: the launches of this thread are checked already; end these checks first");
  emulator::sanitizer_options options;
  try {
    options.checks = emulator::sanitizer_options::parse_checks(checks, "the list of checks");
  } catch (const emulator::launch_error& e) {
    throw invalid_argument(e.what());
  }
  options.most_reports = most_reports;
  this_thread = new checked_thread(std::move(options));
}

thread_checks end_checks() {
  if (this_thread == nullptr)
    throw invalid_argument("kaio: the launches of this thread are not checked; begin the checks first");
  const std::unique_ptr<checked_thread> ended(std::exchange(this_thread, nullptr));
  return std::move(ended->found);
}

emulator::grid_observer* sanitizer_of_thread() noexcept {
  return this_thread == nullptr ? nullptr : &this_thread->sanitizer;
}

void note_checked_launch() noexcept {
  if (this_thread != nullptr) ++this_thread->found.launches;
}

bool note_report(const char* text) {
  if (this_thread == nullptr) return false;
  thread_checks& found = this_thread->found;
  ++found.failed;
  if (!found.reports.empty()) found.reports += "\n\n";
  found.reports += text;
  return true;
}

}  // namespace kaio::runtime
