#include "emulator/profile/report.hpp"

#include "host/printable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

namespace kaio::emulator::profile {
namespace {

constexpr std::size_t costly_lines = 3;
constexpr std::size_t listed_gaps = 12;

// Rows of cells; the first column is left-aligned, the others right-aligned.
class table {
 public:
  void row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  std::string text(std::string_view indent) const {
    std::vector<std::size_t> width;
    for (const auto& r : rows_)
      for (std::size_t c = 0; c < r.size(); ++c) {
        if (width.size() <= c) width.push_back(0);
        width[c] = std::max(width[c], r[c].size());
      }
    std::string result;
    for (const auto& r : rows_) {
      std::string line(indent);
      for (std::size_t c = 0; c < r.size(); ++c)
        line += c == 0 ? fmt::format("{:<{}}", r[c], width[c]) : fmt::format("  {:>{}}", r[c], width[c]);
      result += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
    }
    return result;
  }

 private:
  std::vector<std::vector<std::string>> rows_;
};

void append_head(std::string& to, const summary& s) {
  const kernel_profile& p = s.of;
  to += fmt::format("kernel '{}' on sm_{}{}: {} launch{}, {} blocks, {} warps", p.name, p.program.device().sm,
                    p.program.device().arch_specific ? "a" : "", grouped(p.launches),
                    p.launches == 1 ? "" : "es", grouped(p.blocks), grouped(p.warps));
  if (p.faulted != 0) to += fmt::format("; {} ended with a fault", grouped(p.faulted));
  to += "\n";
  for (const launch_shape& shape : p.shapes) {
    to += fmt::format("  grid {}, block {}", extent(shape.grid), extent(shape.block));
    if (shape.cluster.count() > 1) to += fmt::format(", cluster {}", extent(shape.cluster));
    if (shape.dynamic_shared != 0) to += fmt::format(", dynamic shared memory {} B", shape.dynamic_shared);
    if (p.launches != 1) to += fmt::format(": {} times", grouped(shape.launches));
    to += "\n";
  }
}

void append_costly(std::string& to, const summary& s) {
  if (s.cost <= 0) return;
  to += "\nmost costly lines, by an estimate of their issue slots\n";
  for (std::size_t k = 0; k < std::min(costly_lines, s.costly.size()); ++k) {
    const line_figures& line = *s.costly[k];
    if (line.cost <= 0) break;
    to += fmt::format("  {:>7}  line {:<5} {}", percent(line.cost / s.cost), line.number, trimmed(line.text));
    if (line.from != nullptr) to += fmt::format("   // {}", shown_place(*line.from));
    to += "\n";
    if (const std::string said = remarks(line); !said.empty()) to += fmt::format("{:22}{}\n", "", said);
  }
}

void append_instructions(std::string& to, const summary& s) {
  const u64 lanes = s.all.executions * warp_lanes;
  to += "\ninstructions\n";
  table t;
  t.row({"", "by warps", "", "by threads"});
  t.row({"all", grouped(s.all.executions), "", grouped(s.all.executed)});
  for (std::size_t c = 0; c < instruction_classes; ++c)
    if (s.classes[c].warps != 0)
      t.row({"  " + std::string(name_of(static_cast<instruction_class>(c))), grouped(s.classes[c].warps),
             percent(share_of(s.classes[c].warps, s.all.executions)), grouped(s.classes[c].lanes)});
  to += t.text("  ");
  to += fmt::format("  {} of the lanes are active, {} of those pass the guard\n",
                    percent(share_of(s.all.active, lanes)), percent(share_of(s.all.executed, s.all.active)));
  if (s.branch.executions != 0)
    to += fmt::format("  branches: warps part in {} of {} ({}); lanes: {} taken, {} not\n",
                      grouped(s.branch.divergent), grouped(s.branch.executions),
                      percent(share_of(s.branch.divergent, s.branch.executions)), grouped(s.branch.taken),
                      grouped(s.branch.not_taken));
  if (s.of.barriers != 0) to += fmt::format("  barriers of a block: {}\n", grouped(s.of.barriers));
}

void append_memory(std::string& to, const summary& s) {
  table t;
  t.row({"", "requests", "sectors a request", "ideal", "worst", "bytes asked", "bytes moved", "of use"});
  table banks;
  banks.row({"", "requests", "wavefronts a request", "ideal", "worst", "conflict degree"});
  bool any_sectors = false, any_banks = false;
  for (std::size_t place = 0; place < memory_places; ++place)
    for (std::size_t direction = 0; direction < access_directions; ++direction) {
      const access_counters& c = s.memory[place][direction];
      if (c.requests == 0) continue;
      const auto where = static_cast<memory_place>(place);
      const std::string name =
          fmt::format("{} {}", name_of(where), name_of(static_cast<access_direction>(direction)));
      if (where == memory_place::shared || where == memory_place::cluster) {
        any_banks = true;
        banks.row({name, grouped(c.requests), ratio(c.transactions, c.requests), ratio(c.ideal, c.requests),
                   grouped(c.worst), ratio(c.transactions, c.ideal)});
      } else if (where == memory_place::global || where == memory_place::local) {
        any_sectors = true;
        const u64 moved = c.transactions * 32;
        t.row({name, grouped(c.requests), ratio(c.transactions, c.requests), ratio(c.ideal, c.requests),
               grouped(c.worst), grouped(c.bytes), grouped(moved),
               percent(share_of(c.ideal, c.transactions))});
      }
    }
  if (any_sectors) to += "\nmemory, in sectors of 32 bytes\n" + t.text("  ");
  if (any_banks) to += "\nshared memory, 32 banks of 4 bytes\n" + banks.text("  ");
  access_counters atomics;
  for (const auto& of_place : s.memory)
    for (const access_counters& c : of_place) atomics += c;
  if (atomics.atomics != 0)
    to += fmt::format("\natomic operations: {} requests, {} turns a request (lanes at the same address)\n",
                      grouped(atomics.atomics), ratio(atomics.atomic_turns, atomics.atomics));
}

void append_occupancy(std::string& to, const summary& s) {
  to += "\noccupancy of a multiprocessor (registers are not known from PTX, and may allow fewer blocks)\n";
  for (std::size_t k = 0; k < s.occupancies.size(); ++k) {
    const occupancy& o = s.occupancies[k];
    const std::string block =
        s.occupancies.size() == 1 ? "" : fmt::format("block {}: ", extent(s.of.shapes[k].block));
    to += fmt::format(
        "  {}{} blocks, {} of {} warps, limited by {}: threads allow {}, shared memory ({} B a block) {}, the number of blocks {}\n",
        block, o.blocks, o.warps, o.most_warps, o.limit, o.by_threads, o.shared_bytes, o.by_shared,
        o.by_blocks);
  }
}

// "12, 14-16, 20": lines that were never executed.
std::string gaps(const std::vector<line_figures>& lines, std::size_t from, std::size_t to) {
  std::string text;
  std::size_t listed = 0;
  for (std::size_t k = from; k < to; ++k) {
    if (lines[k].covered != 0) continue;
    const u32 first = lines[k].number;
    while (k + 1 < to && lines[k + 1].covered == 0) ++k;
    if (++listed > listed_gaps) return text + ", ...";
    if (!text.empty()) text += ", ";
    text += lines[k].number == first ? std::to_string(first) : fmt::format("{}-{}", first, lines[k].number);
  }
  return text;
}

void append_coverage(std::string& to, const summary& s) {
  const auto figure = [](const coverage& c) {
    return fmt::format("{} of {} ({})", c.covered, c.all, percent(c.share()));
  };
  to += "\ncoverage\n";
  to += fmt::format("  PTX lines        {}\n", figure(s.ptx));
  if (s.ptx.covered != s.ptx.all)
    to += fmt::format("    never executed: {}\n", gaps(s.lines, 0, s.lines.size()));
  if (!s.cpp_lines.empty()) to += fmt::format("  C++ lines        {}\n", figure(s.cpp));
  for (std::size_t first = 0; first < s.cpp_lines.size();) {
    std::size_t last = first;
    while (last < s.cpp_lines.size() && s.cpp_lines[last].from->file == s.cpp_lines[first].from->file) ++last;
    if (const std::string missed = gaps(s.cpp_lines, first, last); !missed.empty())
      to += fmt::format("    never executed in {}: {}\n", shown_path(s.cpp_lines[first].from->file), missed);
    first = last;
  }
  if (s.branch.branches != 0) {
    to += fmt::format("  branch outcomes  {}\n", figure(s.outcomes));
    std::size_t listed = 0;
    for (const line_figures& line : s.lines) {
      if (line.branch.branches != 1 || line.branch.outcomes != 1 || ++listed > listed_gaps) continue;
      to += fmt::format("    line {} is {} taken: {}\n", line.number,
                        line.branch.taken == 0 ? "never" : "always", trimmed(line.text));
    }
  }
}

}  // namespace

std::string text_report(const std::list<kernel_profile>& kernels) {
  std::string text;
  for (const kernel_profile& p : kernels) {
    const summary s = summarise(p);
    if (!text.empty()) text += "\n";
    append_head(text, s);
    append_costly(text, s);
    append_instructions(text, s);
    append_memory(text, s);
    append_occupancy(text, s);
    append_coverage(text, s);
  }
  return text.empty() ? "no kernel was launched\n" : host::printable(text);
}

}  // namespace kaio::emulator::profile
