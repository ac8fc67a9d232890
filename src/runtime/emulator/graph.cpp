#include "runtime/emulator/graph.hpp"

#include <algorithm>
#include <set>
#include <unordered_map>

namespace kaio::runtime::emulated {

node* graph::add(node_kind kind, std::span<void* const> after, std::function<void()> run) {
  auto fresh = std::make_unique<node>();
  fresh->kind = kind;
  fresh->run = std::move(run);
  for (void* const n : after) fresh->after.push_back(static_cast<const node*>(n));
  nodes_.push_back(std::move(fresh));
  return nodes_.back().get();
}

std::unique_ptr<graph> graph::clone() const {
  auto copy = std::make_unique<graph>();
  std::unordered_map<const node*, const node*> copied;
  for (const auto& n : nodes_) {
    auto fresh = std::make_unique<node>(*n);
    fresh->original = n.get();
    for (const node*& before : fresh->after) before = copied.at(before);
    copied.emplace(n.get(), fresh.get());
    copy->nodes_.push_back(std::move(fresh));
  }
  return copy;
}

node* graph::find(const node* original) const {
  for (const auto& n : nodes_)
    if (n->original == original) return n.get();
  return nullptr;
}

bool graph::follows(const node* later, const node* earlier) {
  std::vector<const node*> pending{later};
  std::set<const node*> seen;
  while (!pending.empty()) {
    const node* const n = pending.back();
    pending.pop_back();
    if (n == earlier) return true;
    for (const node* before : n->after)
      if (seen.insert(before).second) pending.push_back(before);
  }
  return false;
}

std::vector<executable::step> executable::steps_of(const graph& source) {
  std::vector<step> steps;
  std::unordered_map<const node*, std::size_t> place;
  for (const auto& n : source.nodes()) {
    step s{n.get(), n->kind, {}, n->run};
    for (const node* before : n->after) s.after.push_back(place.at(before));
    std::sort(s.after.begin(), s.after.end());
    place.emplace(n.get(), steps.size());
    steps.push_back(std::move(s));
  }
  return steps;
}

executable::executable(const graph& source) : steps_(steps_of(source)) {}

void executable::run() const {
  for (const step& s : steps_)
    if (s.run) s.run();
}

bool executable::update(const graph& changed) {
  std::vector<step> fresh = steps_of(changed);
  const auto same = [](const step& a, const step& b) { return a.kind == b.kind && a.after == b.after; };
  if (!std::equal(steps_.begin(), steps_.end(), fresh.begin(), fresh.end(), same)) return false;
  for (std::size_t i = 0; i < steps_.size(); ++i) steps_[i].run = std::move(fresh[i].run);
  return true;
}

bool executable::replace(const node* which, std::function<void()> run) {
  for (step& s : steps_) {
    if (s.original != which || s.kind != node_kind::kernel) continue;
    s.run = std::move(run);
    return true;
  }
  return false;
}

}  // namespace kaio::runtime::emulated
