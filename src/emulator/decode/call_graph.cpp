#include "emulator/decode/call_graph.hpp"

#include <algorithm>
#include <limits>
#include <span>

namespace kaio::emulator {

const function_symbol* function_table::find(std::string_view name) const {
  const auto found = numbers.find(name);
  return found == numbers.end() ? nullptr : &functions[found->second];
}

call_graph::call_graph(const function_table& table, const std::vector<syntax::declaration>& variables)
    : table_(table), nodes_(table.functions.size()), is_pointed_(table.functions.size(), false) {
  const auto initialisers = [&](const std::vector<syntax::declaration>& declarations) {
    for (const syntax::declaration& d : declarations)
      for (const syntax::initial_value& v : d.initial) point_to(v.symbol);
  };
  initialisers(variables);
  for (u32 k = 0; k < nodes_.size(); ++k) {
    const syntax::function* const f = table.functions[k].defined;
    if (f == nullptr) continue;
    read(nodes_[k], *f);
    initialisers(f->declarations);
  }
}

void call_graph::point_to(std::string_view name) {
  const auto found = table_.numbers.find(name);
  if (found == table_.numbers.end() || is_pointed_[found->second]) return;
  is_pointed_[found->second] = true;
  pointed_.push_back(found->second);
}

void call_graph::point_to(const syntax::operand& o) {
  if (!o.name.empty()) point_to(o.name);
  for (const syntax::operand& e : o.elements) point_to(e);
}

void call_graph::read(node& n, const syntax::function& f) {
  for (const syntax::instruction& i : f.instructions) {
    std::size_t callee = i.operands.size();
    if (i.opcode == "call" && !i.operands.empty()) {
      callee = i.operands[0].kind == syntax::operand_kind::list ? 1 : 0;
      if (callee < i.operands.size()) {
        const auto found = table_.numbers.find(i.operands[callee].name);
        if (found == table_.numbers.end())
          n.calls_pointers = true;
        else
          n.callees.push_back(found->second);
      }
    }
    for (std::size_t k = 0; k < i.operands.size(); ++k)
      if (k != callee) point_to(i.operands[k]);
  }
  std::sort(n.callees.begin(), n.callees.end());
  n.callees.erase(std::unique(n.callees.begin(), n.callees.end()), n.callees.end());
}

// Tarjan's algorithm without recursion. Calls through pointers lead to one extra node, whose edges lead to
// all functions with their address taken.
reached_functions call_graph::from(u32 number) const {
  struct visit {
    u32 order = 0, low = 0;
    bool open = false;
  };
  struct frame {
    u32 node;
    std::size_t next;
  };
  const auto pointers = static_cast<u32>(nodes_.size());
  const auto edges = [&](u32 n) -> const std::vector<u32>& {
    return n == pointers ? pointed_ : nodes_[n].callees;
  };
  const auto more_edges = [&](u32 n) {
    return n != pointers && nodes_[n].calls_pointers ? std::span(&pointers, 1) : std::span<const u32>();
  };

  reached_functions result;
  std::unordered_map<u32, visit> visits;
  std::vector<u32> stack;
  std::vector<frame> path;
  u32 counter = 0, circles = 0;
  const auto open = [&](u32 n) {
    ++counter;
    visits[n] = {counter, counter, true};
    stack.push_back(n);
    path.push_back({n, 0});
  };
  open(number);
  while (!path.empty()) {
    frame& f = path.back();
    const u32 n = f.node;
    const std::vector<u32>& direct = edges(n);
    const std::span<const u32> more = more_edges(n);
    if (f.next < direct.size() + more.size()) {
      const u32 to = f.next < direct.size() ? direct[f.next] : more[f.next - direct.size()];
      ++f.next;
      if (to == n) result.recursive = true;
      const auto found = visits.find(to);
      if (found == visits.end())
        open(to);
      else if (found->second.open)
        visits[n].low = std::min(visits[n].low, found->second.order);
      continue;
    }
    path.pop_back();
    const visit mine = visits[n];
    if (!path.empty()) visits[path.back().node].low = std::min(visits[path.back().node].low, mine.low);
    if (mine.low != mine.order) continue;
    ++circles;
    u32 members = 0;
    for (bool last = false; !last; ++members) {
      const u32 member = stack.back();
      stack.pop_back();
      visits[member].open = false;
      last = member == n;
      result.circle.emplace(member, circles);
      if (member == pointers)
        result.pointer_circle = circles;
      else
        result.order.push_back(member);
    }
    if (members > 1) result.recursive = true;
  }
  return result;
}

}  // namespace kaio::emulator
