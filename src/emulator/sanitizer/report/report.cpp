#include "emulator/sanitizer/report/report.hpp"

#include <iterator>

namespace kaio::emulator::sanitizing {
namespace {

// A kernel may poll a word that it races for: it is stopped at this number of held races.
constexpr std::uint64_t most_held = 1u << 20;

}  // namespace

void reporter::report(check c, fault_report r) {
  if (!told_.insert({c, r.ptx_line}).second) return;
  if (suppressed_.matches(c, r)) return;
  reports_.push_back(std::move(r));
  if (reports_.size() >= options_.most_reports) raise();
}

bool reporter::count(const race_row& row, std::uint32_t line) {
  if (races_.count(row)) {
    if (races_.races() >= most_held) raise();
    return true;
  }
  return suppressed_races_.contains(line);
}

void reporter::hold(const race_row& row, race_example example) {
  if (suppressed_.matches(check::races, example.report))
    suppressed_races_.insert(example.report.ptx_line);
  else
    races_.add(row, std::move(example));
}

void reporter::settle() {
  if (races_.empty() || races_.rows() + reports_.size() < options_.most_reports) return;
  if (races_.reports().size() + reports_.size() >= options_.most_reports) raise();
}

void reporter::raise(const fault* last) {
  raised_ = true;
  std::vector<fault_report> all = races_.reports();
  races_.clear();
  all.insert(all.end(), std::move_iterator(reports_.begin()), std::move_iterator(reports_.end()));
  reports_.clear();
  if (all.size() > options_.most_reports) all.resize(options_.most_reports);
  if (last != nullptr) all.push_back(last->report());
  fault_report first = std::move(all.front());
  all.erase(all.begin());
  first.more = std::move(all);
  throw fault(std::move(first));
}

void reporter::conclude(const fault* last) {
  if (!reports_.empty() || !races_.empty()) raise(last);
}

}  // namespace kaio::emulator::sanitizing
