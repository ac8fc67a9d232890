#include "emulator/sanitizer/state/publications.hpp"

namespace kaio::emulator::sanitizing {
namespace {

constexpr std::size_t most_publications = 32;  // per word, each from another block

}  // namespace

void publications::add(causality& order, const std::byte* at, const publication& p, bool update) {
  std::vector<publication>& published = words_[at];
  if (!update) published.clear();
  for (publication& old : published) {
    if (old.anywhere || old.block != p.block) continue;
    for (std::size_t r = 0; r < reaches; ++r) {
      const event_number both[] = {old.events[r], p.events[r]};
      if (p.events[r] == 0 || p.events[r] == old.events[r]) continue;
      old.events[r] = old.events[r] == 0 ? p.events[r] : order.add({}, both);
    }
    return;
  }
  if (published.size() >= most_publications) {
    publication all;
    all.anywhere = true;
    std::vector<event_number> events;
    for (const publication& old : published)
      if (old.events[index_of(reach::device)] != 0) events.push_back(old.events[index_of(reach::device)]);
    all.events[index_of(reach::device)] = order.add({}, events);
    published.assign(1, all);
  }
  published.push_back(p);
}

}  // namespace kaio::emulator::sanitizing
