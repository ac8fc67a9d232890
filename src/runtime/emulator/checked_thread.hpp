#pragma once
// A sanitizer for what one thread launches on emulators from here on, whatever the environment asks for. A launch with
// reports fails, and its error has them; the emulator is not lost by it.
//
//   begin_checks("all", 1);
//   matmul(stream, a, b, c);                    // throws launch_error if there are reports
//   const thread_checks found = end_checks();   // launches, and the text of their reports

#include <cstdint>
#include <string>
#include <string_view>

namespace kaio::emulator {
class grid_observer;
}

namespace kaio::runtime {

struct thread_checks {
  std::uint64_t launches = 0, failed = 0;
  std::string reports;  // of all failed launches, with an empty line between them
};

// `checks` is "all" or a list of checks (docs/emulator.md); after `most_reports` reports a launch is stopped. Throws
// invalid_argument: an unknown check, or the thread's launches are checked already.
void begin_checks(std::string_view checks, std::uint64_t most_reports);
// Throws invalid_argument: there is no begin.
thread_checks end_checks();

// What the emulator calls: the sanitizer of this thread, nullptr without one; a launch that is checked; its reports.
emulator::grid_observer* sanitizer_of_thread() noexcept;
void note_checked_launch() noexcept;
// Returns whether the thread's launches are checked.
bool note_report(const char* text);

}  // namespace kaio::runtime
