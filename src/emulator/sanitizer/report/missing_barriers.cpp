#include "emulator/sanitizer/report/missing_barriers.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kaio::emulator::sanitizing {
namespace {

constexpr std::size_t most_named = 6;  // rows that an advice names

std::string races_of(std::uint64_t times) { return fmt::format("{} race{}", times, times == 1 ? "" : "s"); }

}  // namespace

void missing_barriers::clear() {
  rows_.clear();
  races_ = 0;
}

bool missing_barriers::count(const race_row& row) {
  const auto found = rows_.find(row);
  if (found == rows_.end()) return false;
  ++found->second.times;
  ++races_;
  return true;
}

void missing_barriers::add(const race_row& row, race_example example) {
  rows_.insert_or_assign(row, counted{std::move(example)});
  ++races_;
}

std::vector<fault_report> missing_barriers::reports() const {
  using entry = std::map<race_row, counted>::value_type;
  const auto key = [](const entry* e) {
    return std::tuple(e->first.within_warp, e->second.example.to, e->second.example.from, e->first);
  };
  std::vector<const entry*> order;
  order.reserve(rows_.size());
  for (const entry& e : rows_) order.push_back(&e);
  std::sort(order.begin(), order.end(), [&](const entry* a, const entry* b) { return key(a) < key(b); });
  struct barrier {
    const entry* cause;
    std::vector<const entry*> others;
  };
  std::vector<barrier> barriers;
  for (const entry* const e : order) {
    const auto ends = [&](const barrier& b) {
      const u32 place = b.cause->second.example.to;
      if (e->second.example.from < place && place <= e->second.example.to) return true;
      // A statement that races with itself gets a barrier at its end.
      const race_row &row = e->first, &cause = b.cause->first;
      if (row.first == cause.first && (row.second == cause.second || cause.first == cause.second))
        return true;
      // What lanes need at a statement that waits for a barrier of the block shows after that is there.
      return row.within_warp && !cause.within_warp &&
             (row.first == cause.first || row.first == cause.second || row.second == cause.first ||
              row.second == cause.second);
    };
    const auto found = std::find_if(barriers.begin(), barriers.end(), ends);
    if (found == barriers.end())
      barriers.push_back({e, {}});
    else
      found->others.push_back(e);
  }
  std::vector<fault_report> result;
  for (const barrier& b : barriers) {
    fault_report& r = result.emplace_back(b.cause->second.example.report);
    r.advice += fmt::format("; it ends {} of these two accesses", races_of(b.cause->second.times));
    std::uint64_t more = 0;
    for (const entry* const e : b.others) more += e->second.times;
    if (more != 0) r.advice += fmt::format(", and may end {} more:", more);
    for (std::size_t k = 0; k < std::min(b.others.size(), most_named); ++k)
      r.advice += fmt::format("\n    {}{}: {}", b.others[k]->second.example.row,
                              b.others[k]->first.within_warp ? ", by lanes of one warp" : "",
                              b.others[k]->second.times);
    if (b.others.size() > most_named)
      r.advice += fmt::format("\n    and {} more pairs of statements", b.others.size() - most_named);
  }
  return result;
}

}  // namespace kaio::emulator::sanitizing
