#include "emulator/profile/summary.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace kaio::emulator::profile {
namespace {

// Inserted instructions have no place in the text.
bool is_written(const instruction& i) {
  if (i.line == 0) return false;
  if (i.op == operation::bra) return i.form != static_cast<u8>(branch_form::inserted);
  return i.op != operation::call || i.form != static_cast<u8>(call_form::enter);
}

bool is_conditional(const instruction& i) {
  return i.op == operation::bra && (i.guard != 0 || i.guard_inverted != 0);
}

access_direction direction_of(const instruction& i) {
  switch (i.op) {
    case operation::ld:
    case operation::ldmatrix:
    case operation::wmma_load: return access_direction::load;
    case operation::st:
    case operation::sust:
    case operation::stmatrix:
    case operation::wmma_store:
    case operation::discard: return access_direction::store;
    case operation::atom:
    case operation::sured:
    case operation::red:
    case operation::mbarrier: return access_direction::atomic;
    case operation::cp_async:
    case operation::bulk:
    case operation::tensor_copy:
    case operation::tensormap:
    case operation::async_store:
    case operation::async_reduce: return access_direction::copy;
    default: return access_direction::load;
  }
}

branch_figures branch_of(const instruction& i, const instruction_counters& c) {
  branch_figures b;
  if (is_conditional(i)) {
    b.branches = 1;
    b.taken = c.executed;
    b.not_taken = c.active - c.executed;
    b.outcomes = (b.taken != 0 ? 1u : 0u) + (b.not_taken != 0 ? 1u : 0u);
    b.executions = c.executions;
    b.divergent = c.divergent;
  } else if (i.op == operation::brx) {
    b.executions = c.executions;
    b.divergent = c.divergent;
  }
  return b;
}

void add(branch_figures& to, const branch_figures& b) {
  to.branches += b.branches;
  to.outcomes += b.outcomes;
  to.executions += b.executions;
  to.divergent += b.divergent;
  to.taken += b.taken;
  to.not_taken += b.not_taken;
}

void add(line_figures& to, const instruction& i, const instruction_counters& c, const branch_figures& b) {
  ++to.instructions;
  if (is_conditional(i) ? c.active != 0 : c.executed != 0) ++to.covered;
  to.sum += c;
  add(to.branch, b);
  to.cost += cost_of(c);
}

coverage covered(const std::vector<line_figures>& lines) {
  coverage c;
  c.all = lines.size();
  for (const line_figures& l : lines)
    if (l.covered != 0) ++c.covered;
  return c;
}

}  // namespace

const line_figures* summary::line(u32 number) const {
  const auto found = std::lower_bound(lines.begin(), lines.end(), number,
                                      [](const line_figures& l, u32 n) { return l.number < n; });
  return found != lines.end() && found->number == number ? &*found : nullptr;
}

double cost_of(const instruction_counters& c) {
  const auto slots = [](u64 count, double each) { return static_cast<double>(count) * each; };
  double cost = slots(c.executions, 1);
  cost += slots(c.at(memory_place::global).transactions, 8);
  cost += slots(c.at(memory_place::local).transactions, 1);
  for (const memory_place place : {memory_place::shared, memory_place::cluster})
    cost += slots(c.at(place).transactions, 4);
  for (const access_counters& m : c.memory) cost += slots(m.atomic_turns, 4);
  return cost;
}

occupancy occupancy_of(const entry& kernel, const ptx::dim3& block, u32 dynamic_shared,
                       const architecture& device) {
  occupancy o;
  const auto warps = static_cast<u32>((block.count() + warp_lanes - 1) / warp_lanes);
  o.most_warps = device.threads_per_multiprocessor / warp_lanes;
  o.by_blocks = device.blocks_per_multiprocessor;
  o.by_threads = warps == 0 ? o.by_blocks : o.most_warps / warps;
  o.shared_bytes =
      dynamic_shared == 0 ? kernel.shared_bytes : u64{kernel.dynamic_shared_offset} + dynamic_shared;
  const u64 taken = o.shared_bytes + device.shared_kept_per_block;
  o.by_shared = taken == 0 ? o.by_blocks : static_cast<u32>(u64{device.shared_per_multiprocessor} / taken);
  o.blocks = std::min({o.by_threads, o.by_shared, o.by_blocks});
  o.warps = o.blocks * warps;
  o.limit = o.blocks == o.by_threads ? "threads" : o.blocks == o.by_shared ? "shared memory" : "blocks";
  return o;
}

summary summarise(const kernel_profile& p) {
  summary s(p);
  std::map<u32, line_figures> by_line;
  std::map<std::pair<std::string_view, u32>, line_figures> by_statement;
  for (std::size_t k = 0; k < p.counters.size(); ++k) {
    const instruction& i = p.kernel->code[k];
    if (!is_written(i)) continue;
    const instruction_counters& c = p.counters[k];
    const branch_figures b = branch_of(i, c);
    line_figures& line = by_line[i.line];
    line.number = i.line;
    line.text = p.program.line(i.line);
    add(line, i, c, b);
    if (i.line <= p.statement_of.size() && !p.statement_of[i.line - 1].file.empty()) {
      const source_place& from = p.statement_of[i.line - 1];
      line.from = &from;
      line_figures& statement = by_statement[{from.file, from.line}];
      statement.number = from.line;
      statement.from = &from;
      add(statement, i, c, b);
    }
    s.all += c;
    s.cost += cost_of(c);
    add(s.branch, b);
    class_figures& of_class = s.classes[static_cast<std::size_t>(class_of(i))];
    of_class.warps += c.executions;
    of_class.lanes += c.executed;
    for (std::size_t place = 0; place < memory_places; ++place)
      s.memory[place][static_cast<std::size_t>(direction_of(i))] += c.memory[place];
  }
  for (const auto& [number, line] : by_line) s.lines.push_back(line);
  for (const auto& [at, line] : by_statement) s.cpp_lines.push_back(line);
  s.ptx = covered(s.lines);
  s.cpp = covered(s.cpp_lines);
  s.outcomes = {s.branch.outcomes, 2 * s.branch.branches};
  for (const line_figures& line : s.lines) s.costly.push_back(&line);
  std::sort(s.costly.begin(), s.costly.end(), [](const line_figures* a, const line_figures* b) {
    return a->cost > b->cost || (!(a->cost < b->cost) && a->number < b->number);
  });
  for (const launch_shape& shape : p.shapes)
    s.occupancies.push_back(occupancy_of(*p.kernel, shape.block, shape.dynamic_shared, p.program.device()));
  return s;
}

std::string_view name_of(memory_place place) {
  switch (place) {
    case memory_place::global: return "global";
    case memory_place::shared: return "shared";
    case memory_place::cluster: return "shared of the cluster";
    case memory_place::local: return "local";
    case memory_place::constant: return "constant";
    case memory_place::parameter: break;
  }
  return "parameter";
}

std::string_view name_of(access_direction direction) {
  switch (direction) {
    case access_direction::load: return "loads";
    case access_direction::store: return "stores";
    case access_direction::atomic: return "atomics";
    case access_direction::copy: break;
  }
  return "copies";
}

}  // namespace kaio::emulator::profile
