// The profile for programs. The members are described in docs/profiling.md.

#include "emulator/profile/markup.hpp"
#include "emulator/profile/report.hpp"

#include <string>

namespace kaio::emulator::profile {
namespace {

void write_extent(json_writer& w, std::string_view name, const ptx::dim3& d) {
  w.key(name).open('[').value(u64{d.x}).value(u64{d.y}).value(u64{d.z}).close(']');
}

void write_coverage(json_writer& w, std::string_view name, const coverage& c) {
  w.key(name).open('{').member("covered", c.covered).member("all", c.all).close('}');
}

void write_access(json_writer& w, const access_counters& c, memory_place place) {
  const bool shared = place == memory_place::shared || place == memory_place::cluster;
  w.member("requests", c.requests).member("lanes", c.lanes).member("bytes_asked", c.bytes);
  if (shared) {
    w.member("wavefronts", c.transactions).member("ideal_wavefronts", c.ideal);
    w.member("worst_wavefronts", c.worst);
  } else if (place == memory_place::global || place == memory_place::local) {
    w.member("sectors", c.transactions).member("ideal_sectors", c.ideal).member("worst_sectors", c.worst);
  }
  if (c.atomics != 0) w.member("atomic_requests", c.atomics).member("atomic_turns", c.atomic_turns);
}

void write_counters(json_writer& w, const instruction_counters& c) {
  w.member("warp_instructions", c.executions).member("active_lanes", c.active);
  w.member("thread_instructions", c.executed).member("without_lanes", c.empty);
}

void write_branch(json_writer& w, const branch_figures& b) {
  w.key("branches").open('{');
  w.member("branches", b.branches).member("outcomes", b.outcomes).member("executions", b.executions);
  w.member("divergent", b.divergent).member("taken_lanes", b.taken).member("not_taken_lanes", b.not_taken);
  w.close('}');
}

void write_line(json_writer& w, const line_figures& line, bool is_ptx) {
  w.open('{');
  if (!is_ptx) w.member("file", line.from->file);
  w.member("line", u64{line.number});
  if (is_ptx) w.member("text", trimmed(line.text));
  if (is_ptx && line.from != nullptr)
    w.member("source_file", line.from->file).member("source_line", u64{line.from->line});
  w.member("instructions", line.instructions).member("covered", line.covered).member("cost", line.cost);
  write_counters(w, line.sum);
  if (line.branch.executions != 0 || line.branch.branches != 0) write_branch(w, line.branch);
  for (std::size_t place = 0; place < memory_places; ++place) {
    const access_counters& c = line.sum.memory[place];
    if (c.requests == 0) continue;
    w.key(name_of(static_cast<memory_place>(place))).open('{');
    write_access(w, c, static_cast<memory_place>(place));
    w.close('}');
  }
  w.close('}');
}

void write_launches(json_writer& w, const summary& s) {
  const kernel_profile& p = s.of;
  w.member("launches", p.launches).member("faulted", p.faulted).member("blocks", p.blocks);
  w.member("warps", p.warps).member("threads", p.threads).member("barriers", p.barriers);
  w.key("shapes").open('[');
  for (std::size_t k = 0; k < p.shapes.size(); ++k) {
    const launch_shape& shape = p.shapes[k];
    const occupancy& o = s.occupancies[k];
    w.open('{');
    write_extent(w, "grid", shape.grid);
    write_extent(w, "block", shape.block);
    write_extent(w, "cluster", shape.cluster);
    w.member("dynamic_shared", u64{shape.dynamic_shared}).member("launches", shape.launches);
    w.key("occupancy").open('{');
    w.member("blocks", u64{o.blocks}).member("warps", u64{o.warps}).member("most_warps", u64{o.most_warps});
    w.member("by_threads", u64{o.by_threads}).member("by_shared", u64{o.by_shared});
    w.member("by_blocks", u64{o.by_blocks}).member("shared_bytes", o.shared_bytes).member("limit", o.limit);
    w.close('}').close('}');
  }
  w.close(']');
}

void write_kernel(json_writer& w, const kernel_profile& p) {
  const summary s = summarise(p);
  const architecture& device = p.program.device();
  w.open('{').member("name", p.name);
  w.member("device", "sm_" + std::to_string(device.sm) + (device.arch_specific ? "a" : ""));
  write_launches(w, s);
  write_counters(w, s.all);
  w.member("cost", s.cost);
  write_branch(w, s.branch);

  w.key("classes").open('{');
  for (std::size_t c = 0; c < instruction_classes; ++c) {
    if (s.classes[c].warps == 0) continue;
    w.key(name_of(static_cast<instruction_class>(c))).open('{');
    w.member("warp_instructions", s.classes[c].warps).member("thread_instructions", s.classes[c].lanes);
    w.close('}');
  }
  w.close('}');

  w.key("memory").open('[');
  for (std::size_t place = 0; place < memory_places; ++place)
    for (std::size_t direction = 0; direction < access_directions; ++direction) {
      const access_counters& c = s.memory[place][direction];
      if (c.requests == 0) continue;
      w.open('{').member("space", name_of(static_cast<memory_place>(place)));
      w.member("direction", name_of(static_cast<access_direction>(direction)));
      write_access(w, c, static_cast<memory_place>(place));
      w.close('}');
    }
  w.close(']');

  w.key("coverage").open('{');
  write_coverage(w, "ptx_lines", s.ptx);
  write_coverage(w, "source_lines", s.cpp);
  write_coverage(w, "branch_outcomes", s.outcomes);
  w.close('}');

  w.key("lines").open('[');
  for (const line_figures& line : s.lines) write_line(w, line, true);
  w.close(']').key("source_lines").open('[');
  for (const line_figures& line : s.cpp_lines) write_line(w, line, false);
  w.close(']').close('}');
}

}  // namespace

std::string json_report(const std::list<kernel_profile>& kernels) {
  json_writer w;
  w.open('{').member("format", "kaio profile").member("version", u64{1}).key("kernels").open('[');
  for (const kernel_profile& p : kernels) write_kernel(w, p);
  w.close(']').close('}');
  return w.text() + "\n";
}

}  // namespace kaio::emulator::profile
