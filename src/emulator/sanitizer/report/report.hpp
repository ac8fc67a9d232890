#pragma once
// The reports of a grid. A report is made once per PTX line and kind. It is suppressed if a file lists it;
// otherwise it is thrown at once or gathered until the end.
//
// Races that a barrier would end are held until their block meets at one, or ends: then the missing barrier is
// known (missing_barriers.hpp). It is reported first, with the number of its consequences.

#include "emulator/program/error.hpp"
#include "emulator/sanitizer/report/missing_barriers.hpp"
#include "emulator/sanitizer/report/options.hpp"
#include "emulator/sanitizer/report/suppressions.hpp"

#include <set>
#include <utility>
#include <vector>

namespace kaio::emulator::sanitizing {

class reporter {
 public:
  reporter(const sanitizer_options& options, suppressions& suppressed)
      : options_(options), suppressed_(suppressed) {}

  bool wants(check c) const { return options_.checks.has(c); }
  // False if this line already has a report of this kind.
  bool is_new(check c, std::uint32_t line) const { return !told_.contains({c, line}); }
  // At the requested number of reports, throws fault with all of them.
  void report(check c, fault_report r);
  // Counts a race that a barrier would end. False if it needs an example, to be given to `hold`.
  bool count(const race_row& row, std::uint32_t line);
  void hold(const race_row& row, race_example example);
  // The threads of a block have met: throws fault if the held races complete the requested number.
  void settle();
  // The grid has ended: throws fault if there are reports. `last`: the fault that ended it, if any.
  void conclude(const fault* last);
  bool raised() const { return raised_; }

 private:
  [[noreturn]] void raise(const fault* last = nullptr);

  const sanitizer_options& options_;
  suppressions& suppressed_;
  std::set<std::pair<check, std::uint32_t>> told_;
  std::set<std::uint32_t> suppressed_races_;  // PTX lines
  std::vector<fault_report> reports_;
  missing_barriers races_;
  bool raised_ = false;
};

}  // namespace kaio::emulator::sanitizing
