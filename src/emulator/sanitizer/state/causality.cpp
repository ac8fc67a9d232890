#include "emulator/sanitizer/state/causality.hpp"

#include <algorithm>
#include <utility>

namespace kaio::emulator::sanitizing {

void causality::clear() {
  events_.assign(1, event{});
  facts_.clear();
  before_.clear();
}

event_number causality::add(std::span<const known_until> facts, std::span<const event_number> before) {
  const event e{facts_.size(), before_.size(), static_cast<u32>(facts.size()),
                static_cast<u32>(before.size())};
  facts_.insert(facts_.end(), facts.begin(), facts.end());
  before_.insert(before_.end(), before.begin(), before.end());
  events_.push_back(e);
  return static_cast<event_number>(events_.size() - 1);
}

void knowledge::clear() {
  if (events_.empty()) return;
  events_.clear();
  spread_ = 0;
  seen_.clear();
  until_.clear();
}

void knowledge::learn(event_number e) {
  if (e == 0 || (!events_.empty() && events_.back() == e) || seen_.contains(e)) return;
  events_.push_back(e);
}

void knowledge::take(knowledge& other) {
  if (other.events_.empty()) return;
  if (events_.empty()) {
    std::swap(*this, other);
    return;
  }
  for (const event_number e : other.events_) learn(e);
  other.clear();
}

void knowledge::spread(const causality& order) {
  std::vector<event_number> left(events_.begin() + static_cast<std::ptrdiff_t>(spread_), events_.end());
  spread_ = events_.size();
  while (!left.empty()) {
    const event_number e = left.back();
    left.pop_back();
    if (!seen_.insert(e).second) continue;
    for (const known_until& f : order.facts(e)) {
      u32& until = until_[f.key];
      until = std::max(until, f.time);
    }
    for (const event_number before : order.before(e)) left.push_back(before);
  }
}

bool knowledge::knows(const causality& order, u64 key, u32 time) {
  if (events_.empty()) return false;
  if (spread_ < events_.size()) spread(order);
  const auto found = until_.find(key);
  return found != until_.end() && found->second >= time;
}

event_number knowledge::summary(causality& order) {
  if (events_.empty()) return 0;
  if (events_.size() == 1) return events_.front();
  const event_number all = order.add({}, events_);
  if (spread_ == events_.size()) {
    seen_.insert(all);
    spread_ = 1;
  } else {
    spread_ = 0;
  }
  events_.assign(1, all);
  return all;
}

}  // namespace kaio::emulator::sanitizing
