#include "emulator/sanitizer/state/watched.hpp"
#include "emulator/machine/locate_object.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>
#include <string>
#include <utility>

namespace kaio::emulator::sanitizing {
namespace {

// The value of a pointer parameter.
u64 pointer_of(const grid& g, std::size_t parameter) {
  const layout& where = g.kernel.parameters[parameter];
  u64 value = 0;
  if (where.bytes == sizeof value) std::memcpy(&value, g.parameters.data() + where.offset, sizeof value);
  return value;
}

// True if a struct among the parameters contains an address within the buffer.
bool is_in_structs(const grid& g, const piece& buffer) {
  for (std::size_t i = 0; i < g.image->parameter_count && i < g.kernel.parameters.size(); ++i) {
    if (g.image->parameters[i].access != ptx::access::scalar) continue;
    const layout& where = g.kernel.parameters[i];
    u64 value = 0;
    for (std::size_t at = 0; at + sizeof value <= where.bytes; at += sizeof value) {
      std::memcpy(&value, g.parameters.data() + where.offset + at, sizeof value);
      if (value - buffer.address < buffer.bytes) return true;
    }
  }
  return false;
}

}  // namespace

// ---- early reads ----

bool early_reads::has(std::uint32_t ptx_line) const {
  return std::any_of(reads_.begin(), reads_.end(),
                     [&](const early_read& e) { return e.report.ptx_line == ptx_line; });
}

void early_reads::add(const std::byte* at, u32 block, fault_report r) {
  if (!has(r.ptx_line)) reads_.push_back({at, block, std::move(r)});
}

void early_reads::drop(const std::byte* word) {
  std::erase_if(reads_, [&](const early_read& e) { return e.at < word + 4 && e.at + e.report.bytes > word; });
}

void early_reads::report_at(std::size_t k) {
  fault_report r = std::move(reads_[k].report);
  reads_.erase(reads_.begin() + static_cast<std::ptrdiff_t>(k));
  reports_.report(check::uninitialised, std::move(r));
}

void early_reads::report(u32 block) {
  for (std::size_t k = 0; k < reads_.size();) {
    if (reads_[k].block != block)
      ++k;
    else
      report_at(k);
  }
}

void early_reads::report_all() {
  while (!reads_.empty()) report_at(0);
}

// ---- the grid ----

watched_grid::watched_grid(const grid& g, reporter& r, causality& c, record_pool& p, line_store& s,
                           preceding_grids& before)
    : launched(g),
      of_kaio(g.image != nullptr && g.image->statement_count != 0),
      reports(r),
      order(c),
      pool(p),
      store(s),
      preceding(before),
      uses(g.kernel),
      origins(g.kernel),
      start(c.now++),
      early(r) {
  const bool races = r.wants(check::races) || r.wants(check::async);
  std::vector<const std::byte*> live;
  for (const region& b : g.snapshot->regions) live.push_back(b.data);
  std::sort(live.begin(), live.end());
  store.keep_only(live);
  for (const region& b : g.snapshot->regions) {
    piece p_of;
    p_of.data = b.data;
    p_of.bytes = b.bytes;
    p_of.address = b.address;
    p_of.defined = b.defined;
    p_of.lines = races ? store.lines_of(b.data, b.bytes) : nullptr;
    p_of.origin = start;
    buffers.push_back(p_of);
  }
  // A buffer that is an input only. If a struct contains an address of it, it may be an output.
  if (g.image != nullptr) {
    for (const bool inputs : {true, false})
      for (std::size_t i = 0; i < g.image->parameter_count && i < g.kernel.parameters.size(); ++i) {
        const ptx::access a = g.image->parameters[i].access;
        if (a == ptx::access::scalar || (a == ptx::access::in) != inputs) continue;
        const u64 at = pointer_of(g, i);
        for (piece& b : buffers)
          if (at - b.address < b.bytes) b.input = inputs ? g.kernel.parameters[i].name.c_str() : nullptr;
      }
    for (piece& b : buffers)
      if (b.input != nullptr && is_in_structs(g, b)) b.input = nullptr;
  }
  if (r.wants(check::races)) preceding.begin(g, buffers);
  std::sort(buffers.begin(), buffers.end(), [](const piece& a, const piece& b) { return a.data < b.data; });
  // Writes to inputs are reported as such.
  const bool follows =
      r.wants(check::memory) && std::any_of(g.kernel.code.begin(), g.kernel.code.end(),
                                            [](const instruction& i) { return i.flags.read_only; });
  if (!follows) return;
  for (piece& b : buffers) {
    if (b.input != nullptr) continue;
    const u64 words = (b.bytes + 3) / 4;
    zeroed_bytes& storage = words_.emplace_back(2 * words * sizeof(u32));
    b.constant_loads = reinterpret_cast<u32*>(storage.data());
    b.writes = b.constant_loads + words;
  }
}

u32 watched_grid::statement_of(u32 line) {
  if (statements_.empty()) {
    const std::vector<source_place> places = statements(launched.program, launched.image);
    std::map<std::pair<std::string, u32>, u32> first;
    statements_.push_back(0);  // lines count from 1
    for (const source_place& p : places) {
      const auto own = static_cast<u32>(statements_.size());
      statements_.push_back(p.file.empty() ? own
                                           : first.emplace(std::pair(p.file, p.line), own).first->second);
    }
  }
  return line < statements_.size() ? statements_[line] : line;
}

std::string watched_grid::place_of(const instruction& i) const {
  const source_place from = source_of(launched, i);
  if (from.file.empty()) return fmt::format("PTX line {}", i.line);
  return fmt::format("{}:{}", from.file.substr(from.file.rfind('/') + 1), from.line);
}

const piece* watched_grid::buffer_at(const std::byte* at) const {
  const auto above = std::upper_bound(buffers.begin(), buffers.end(), at,
                                      [](const std::byte* a, const piece& p) { return a < p.data; });
  if (above == buffers.begin()) return nullptr;
  const piece& p = *std::prev(above);
  return p.contains(at) ? &p : nullptr;
}

// ---- a block ----

watched_block::watched_block(watched_grid& g, block& b) : grid(g), of(b), warps(b.launched.warps()) {
  shared.data = b.shared.data();
  shared.bytes = b.shared.size();
  shared.space = state_space::shared;
  shared.home = this;
  shared_defined_.resize(b.shared.size() / 8 + 1);
  shared.defined = shared_defined_.data();
  if (grid.reports.wants(check::races) || grid.reports.wants(check::async)) {
    shared_lines_ = zeroed_bytes((b.shared.size() / (words_of_a_line * 4) + 1) * sizeof(line));
    shared.lines = reinterpret_cast<line*>(shared_lines_.data());
  }
  local.data = b.local.data();
  local.bytes = b.local.size();
  local.space = state_space::local;
  local.home = this;
  local_defined_ = zeroed_bytes(b.local.size() / 8 + 1);
  local.defined = reinterpret_cast<u8*>(local_defined_.data());
  grid.running.emplace(&b, this);
}

watched_block::~watched_block() { grid.running.erase(&of); }

void watched_block::start() {
  if (of.rank == 0) ++grid.clusters;
  number = static_cast<u32>(grid.blocks.size());
  first_actor = number * warps;
  grid.blocks.push_back({of.index, grid.clusters});
  origin = grid.order.now++;
  shared.origin = origin;
  std::fill(shared_defined_.begin(), shared_defined_.end(), u8{0});
  local_defined_.clear();
}

reach watched_block::distance(u32 other) const {
  if (other == number) return reach::block;
  const bool same_cluster = grid.blocks[other].cluster == grid.blocks[number].cluster;
  return same_cluster ? reach::cluster : reach::device;
}

void watched_block::describe_place(const piece& p, u64 offset, u32 bytes, access_kind kind,
                                   fault_report& r) const {
  r.access = kind;
  r.bytes = bytes;
  if (p.space == state_space::global) {
    r.address = p.address + offset;
    locate_object(of, p.space, r.address, r.address, r);
    return;
  }
  const u64 within = p.space == state_space::local ? offset % of.launched.kernel.local_bytes : offset;
  r.address = within;
  locate_object(of, p.space, within, within, r);
  if (p.home != nullptr && p.home != this) {
    const ptx::dim3& i = p.home->of.index;
    r.detail += fmt::format("; the memory is that of block ({}, {}, {}) of the cluster", i.x, i.y, i.z);
  }
}

}  // namespace kaio::emulator::sanitizing
