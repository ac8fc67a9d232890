#include "emulator/sanitizer/report/report.hpp"

namespace kaio::emulator::sanitizing {

void reporter::report(check c, fault_report r) {
  if (!told_.insert({c, r.ptx_line}).second) return;
  if (suppressed_.matches(c, r)) return;
  reports_.push_back(std::move(r));
  if (reports_.size() >= options_.most_reports) raise();
}

void reporter::raise() {
  raised_ = true;
  fault_report first = std::move(reports_.front());
  reports_.erase(reports_.begin());
  first.more = std::move(reports_);
  reports_.clear();
  throw fault(std::move(first));
}

void reporter::conclude(const fault* last) {
  if (reports_.empty()) return;
  if (last != nullptr) reports_.push_back(last->report());
  raise();
}

}  // namespace kaio::emulator::sanitizing
