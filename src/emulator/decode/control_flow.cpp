#include "emulator/decode/control_flow.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <limits>
#include <utility>

namespace kaio::emulator {
namespace {

constexpr u32 nowhere = std::numeric_limits<u32>::max();
constexpr unsigned deepest_loop = 64;  // loops nested deeper keep the order of the text

struct basic_block {
  u32 first = 0, last = 0;  // instructions [first, last)
  u32 falls = nowhere;      // the next block if no branch is taken
  std::vector<u32> next;    // its successors, later ones in the text first
};

bool leaves(const instruction& i) {
  const bool ends =
      i.op == operation::bra || i.op == operation::brx || i.op == operation::exit || i.op == operation::ret;
  return ends && i.guard == 0 && i.guard_inverted == 0;
}

// Calls the function with each place that an instruction may branch to.
template <class Function>
void for_targets(const instruction& i, const std::vector<u32>& targets, Function&& function) {
  if (i.op == operation::bra) function(static_cast<u32>(i.immediate));
  if (i.op != operation::brx) return;
  for (u32 k = 0; k < i.rows; ++k) function(targets[i.detail + k]);
}

std::vector<basic_block> split(const std::vector<instruction>& code, const std::vector<u32>& targets) {
  std::vector<bool> leads(code.size() + 1, false);
  leads[0] = true;
  for (std::size_t i = 0; i < code.size(); ++i) {
    for_targets(code[i], targets, [&](u32 target) { leads[target] = true; });
    if (code[i].op == operation::bra || leaves(code[i])) leads[i + 1] = true;
    if (code[i].op == operation::brx) leads[i + 1] = true;
  }
  std::vector<basic_block> blocks;
  std::vector<u32> block_at(code.size() + 1, nowhere);
  for (u32 i = 0; i < code.size(); ++i) {
    if (leads[i]) {
      block_at[i] = static_cast<u32>(blocks.size());
      blocks.push_back({i, i, nowhere, {}});
    }
    blocks.back().last = i + 1;
  }
  for (basic_block& b : blocks) {
    const instruction& end = code[b.last - 1];
    if (!leaves(end) && b.last < code.size()) {
      b.falls = block_at[b.last];
      b.next.push_back(b.falls);
    }
    for_targets(end, targets, [&](u32 target) { b.next.push_back(block_at[target]); });
    // The successor later in the text is followed first, which also puts it later in the order.
    std::sort(b.next.begin(), b.next.end(), std::greater<>());
    b.next.erase(std::unique(b.next.begin(), b.next.end()), b.next.end());
  }
  return blocks;
}

class weak_topological_order {
 public:
  explicit weak_topological_order(const std::vector<basic_block>& blocks)
      : blocks_(blocks),
        part_(blocks.size(), 0),
        number_(blocks.size(), 0),
        low_(blocks.size(), 0),
        open_(blocks.size(), false) {}

  std::vector<u32> run() {
    order_.reserve(blocks_.size());
    arrange(0, nowhere, 0);
    return std::move(order_);
  }

 private:
  using component = std::vector<u32>;  // its first member is its entry

  // Appends the blocks of root's component that `root` reaches without an edge to `head`.
  void arrange(u32 root, u32 head, unsigned depth) {
    const std::vector<component> found = components(root, head);
    for (auto c = found.rbegin(); c != found.rend(); ++c) {
      if (c->size() == 1) {
        order_.push_back(c->front());
      } else if (depth == deepest_loop) {
        component sorted = *c;
        std::sort(sorted.begin(), sorted.end());
        for (const u32 b : sorted) order_.push_back(b);
      } else {
        const u32 inner = ++parts_;
        for (u32 b : *c) part_[b] = inner;
        arrange(c->front(), c->front(), depth + 1);
      }
    }
  }

  // Tarjan's algorithm without recursion: the strongly connected components, each after its successors.
  std::vector<component> components(u32 root, u32 head) {
    struct frame {
      u32 block;
      std::size_t at = 0;
    };
    const u32 part = part_[root];
    std::vector<component> found;
    std::vector<u32> stack;
    std::vector<frame> path;
    const auto open = [&](u32 b) {
      number_[b] = low_[b] = ++counter_;
      open_[b] = true;
      stack.push_back(b);
      path.push_back({b});
    };
    const u32 fresh = counter_;
    open(root);
    while (!path.empty()) {
      frame& f = path.back();
      const std::vector<u32>& next = blocks_[f.block].next;
      if (f.at < next.size()) {
        const u32 to = next[f.at++];
        if (to == head || part_[to] != part) continue;
        if (number_[to] <= fresh)
          open(to);
        else if (open_[to])
          low_[f.block] = std::min(low_[f.block], number_[to]);
        continue;
      }
      const u32 b = f.block;
      path.pop_back();
      if (!path.empty()) low_[path.back().block] = std::min(low_[path.back().block], low_[b]);
      if (low_[b] != number_[b]) continue;
      component c;
      u32 member = nowhere;
      do {
        member = stack.back();
        stack.pop_back();
        open_[member] = false;
        c.push_back(member);
      } while (member != b);
      std::swap(c.front(), c.back());
      found.push_back(std::move(c));
    }
    return found;
  }

  const std::vector<basic_block>& blocks_;
  std::vector<u32> part_;    // the last component that each block was put into
  std::vector<u32> number_;  // order of visits; numbers of earlier searches mean not visited
  std::vector<u32> low_;
  std::vector<bool> open_;
  std::vector<u32> order_;
  u32 counter_ = 0, parts_ = 0;
};

}  // namespace

void order_blocks(std::vector<instruction>& code, std::vector<u32>& targets) {
  const std::vector<basic_block> blocks = split(code, targets);
  const std::vector<u32> order = weak_topological_order(blocks).run();
  bool unchanged = order.size() == blocks.size();
  for (u32 i = 0; unchanged && i < order.size(); ++i) unchanged = order[i] == i;
  if (unchanged) return;

  std::vector<instruction> moved;
  std::vector<u32> start(code.size(), nowhere);  // the new place of each block that began here
  moved.reserve(code.size());
  for (std::size_t k = 0; k < order.size(); ++k) {
    const basic_block& b = blocks[order[k]];
    start[b.first] = static_cast<u32>(moved.size());
    moved.insert(moved.end(), code.begin() + b.first, code.begin() + b.last);
    if (b.falls != nowhere && (k + 1 == order.size() || order[k + 1] != b.falls)) {
      instruction jump;
      jump.op = operation::bra;
      jump.form = static_cast<u8>(branch_form::inserted);
      jump.line = code[b.last - 1].line;
      jump.immediate = blocks[b.falls].first;
      moved.push_back(jump);
    }
  }
  for (instruction& i : moved) {
    if (i.op == operation::bra) i.immediate = start[static_cast<std::size_t>(i.immediate)];
    if (i.op != operation::brx) continue;
    for (u32 k = 0; k < i.rows; ++k) targets[i.detail + k] = start[targets[i.detail + k]];
  }
  code = std::move(moved);
}

}  // namespace kaio::emulator
