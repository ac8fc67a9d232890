#include "emulator/machine/block.hpp"

#include "emulator/machine/cluster.hpp"
#include "emulator/machine/lanes.hpp"
#include "emulator/machine/members.hpp"
#include "emulator/machine/standstill.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>
#include <string>
#include <utility>

namespace kaio::emulator {
namespace {

constexpr std::size_t file_alignment = 64;
constexpr u64 warp_steps = 4096;   // a warp runs this long before its neighbours have their turn
constexpr u64 starved_turns = 16;  // the starved warp has one turn of so many
constexpr u64 random_steps = 64;   // at most, in a random schedule

std::string_view name_of(state_space space) {
  switch (space) {
    case state_space::global: return "global";
    case state_space::shared: return "shared";
    case state_space::local: return "local";
    case state_space::constant: return "constant";
    case state_space::param: return "parameter";
    case state_space::generic: break;
  }
  return "generic";
}

std::string_view trimmed(std::string_view line) {
  const std::size_t first = line.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return line.substr(first, line.find_last_not_of(" \t\r") - first + 1);
}

nearest_object nearest_variable(const std::vector<layout>& variables, u64 address, u64 total) {
  using relation = nearest_object::relation;
  nearest_object best;
  for (const layout& v : variables) {
    nearest_object o{relation::inside, false, v.offset, v.bytes, 0, v.name};
    if (address < v.offset) {
      o.where = relation::before;
      o.distance = v.offset - address;
    } else if (address - v.offset >= v.bytes) {
      o.where = relation::after;
      o.distance = address - v.offset - v.bytes;
    } else {
      o.distance = address - v.offset;
    }
    if (best.where == relation::none ||
        (best.where != relation::inside && (o.where == relation::inside || o.distance < best.distance)))
      best = o;
  }
  if (best.where == relation::none && total != 0)
    best = {address < total ? relation::inside : relation::after, false, 0, total,
            address < total ? address : address - total,          {}};
  return best;
}

}  // namespace

void block::free_file::operator()(std::byte* p) const {
  ::operator delete(p, std::align_val_t{file_alignment});
}

block::block(const grid& g, cluster& within, u32 rank_of_block)
    : launched(g), group(within), rank(rank_of_block) {
  file_stride_ = (g.initial_file.size() + file_alignment - 1) / file_alignment * file_alignment;
  const std::size_t bytes = file_stride_ * g.warps();
  files_.reset(static_cast<std::byte*>(::operator new(bytes, std::align_val_t{file_alignment})));
  std::memset(files_.get(), 0, bytes);
  warps.resize(g.warps());
  shared.resize(g.reads_reserved_offset() ? g.reserved_offset() + grid::reserved_bytes : g.shared_bytes);
  local = zeroed_bytes(std::size_t{g.kernel.local_bytes} * g.warps() * warp_lanes);
  site_regions.resize(g.kernel.sites, nullptr);
  for (grid_observer* o : g.observers)
    if (std::unique_ptr<observer> own = o->watch(*this)) observers.push_back(std::move(own));
}

void block::start(const ptx::dim3& at) {
  index = at;
  executed_ = 0;
  finished_ = false;
  barriers = {};
  std::fill(shared.begin(), shared.end(), std::byte{0});
  local.clear();
  const u64 threads = launched.threads.count();
  for (u32 i = 0; i < warps.size(); ++i) {
    warp& w = warps[i];
    w.file = files_.get() + i * file_stride_;
    w.code = launched.kernel.code.data();
    w.owner = this;
    w.index = i;
    const u64 left = threads - u64{i} * warp_lanes;
    w.start(left >= warp_lanes ? all_lanes : (1u << left) - 1);
    std::memcpy(w.file, launched.initial_file.data(), launched.initial_file.size());
    fill_specials(w);
  }
  for (const auto& o : observers) o->start(*this);
}

void block::fill_specials(warp& w) {
  const grid& g = launched;
  const ptx::dim3& n = g.threads;
  const u64 linear = index.x + u64{g.blocks.x} * (index.y + u64{g.blocks.y} * index.z);
  const ptx::dim3& c = g.cluster_blocks;
  for (const special_row& s : g.kernel.specials) {
    for (unsigned lane = 0; lane < warp_lanes; ++lane) {
      const ptx::dim3 t = thread_of(g, w.index, lane);
      u64 value = 0;
      switch (s.which) {
        case special_form::tid_x: value = t.x; break;
        case special_form::tid_y: value = t.y; break;
        case special_form::tid_z: value = t.z; break;
        case special_form::ntid_x: value = n.x; break;
        case special_form::ntid_y: value = n.y; break;
        case special_form::ntid_z: value = n.z; break;
        case special_form::ctaid_x: value = index.x; break;
        case special_form::ctaid_y: value = index.y; break;
        case special_form::ctaid_z: value = index.z; break;
        case special_form::nctaid_x: value = g.blocks.x; break;
        case special_form::nctaid_y: value = g.blocks.y; break;
        case special_form::nctaid_z: value = g.blocks.z; break;
        case special_form::laneid: value = lane; break;
        case special_form::warpid: value = w.index; break;
        case special_form::nwarpid: value = g.warps(); break;
        case special_form::smid: value = linear % g.multiprocessors; break;
        case special_form::nsmid: value = g.multiprocessors; break;
        case special_form::gridid: value = g.id; break;
        case special_form::dynamic_smem_size: value = g.dynamic_shared; break;
        case special_form::total_smem_size: value = g.shared_bytes; break;
        case special_form::aggr_smem_size: value = g.reserved_offset() + grid::reserved_bytes; break;
        case special_form::reserved_smem_offset_begin: value = g.reserved_offset(); break;
        case special_form::reserved_smem_offset_end: value = g.reserved_offset() + grid::reserved_used; break;
        case special_form::reserved_smem_offset_cap:
          value = g.reserved_offset() + grid::reserved_bytes;
          break;
        case special_form::clusterid_x: value = index.x / c.x; break;
        case special_form::clusterid_y: value = index.y / c.y; break;
        case special_form::clusterid_z: value = index.z / c.z; break;
        case special_form::nclusterid_x: value = g.blocks.x / c.x; break;
        case special_form::nclusterid_y: value = g.blocks.y / c.y; break;
        case special_form::nclusterid_z: value = g.blocks.z / c.z; break;
        case special_form::cluster_ctaid_x: value = index.x % c.x; break;
        case special_form::cluster_ctaid_y: value = index.y % c.y; break;
        case special_form::cluster_ctaid_z: value = index.z % c.z; break;
        case special_form::cluster_nctaid_x: value = c.x; break;
        case special_form::cluster_nctaid_y: value = c.y; break;
        case special_form::cluster_nctaid_z: value = c.z; break;
        case special_form::cluster_ctarank: value = rank; break;
        case special_form::cluster_nctarank: value = c.count(); break;
        case special_form::is_explicit_cluster: value = g.explicit_cluster ? 1 : 0; break;
        case special_form::grid_workspace_high: value = g.workspace >> 32; break;
        case special_form::grid_workspace_low: value = g.workspace & 0xffffffffu; break;
        case special_form::lanemask_eq: value = 1u << lane; break;
        case special_form::lanemask_lt: value = (1u << lane) - 1; break;
        case special_form::lanemask_le: value = (2u << lane) - 1; break;
        case special_form::lanemask_gt: value = ~((2u << lane) - 1) & all_lanes; break;
        case special_form::lanemask_ge: value = ~((1u << lane) - 1) & all_lanes; break;
        default: break;
      }
      std::memcpy(w.file + s.row + lane * s.bytes, &value, s.bytes);
    }
  }
}

// The warp to run next in this round of turns; nullptr when the round is over.
warp* block::next_warp(u32& turn) {
  const auto count = static_cast<u32>(warps.size());
  if (turn >= count) return nullptr;
  switch (launched.order.kind) {
    case schedule_kind::round_robin: return &warps[turn++];
    case schedule_kind::reverse: return &warps[count - 1 - turn++];
    case schedule_kind::random: return ++turn, &warps[group.random.below(count)];
    case schedule_kind::starve: break;
  }
  const auto starved = static_cast<u32>(launched.order.seed % count);
  const auto others_move = [&] {
    for (const warp& w : warps)
      if (w.index != starved && w.live != 0 && w.ready()) return true;
    return false;
  };
  if (turn == starved && group.random.below(starved_turns) != 0 && others_move()) ++turn;
  return turn >= count ? nullptr : &warps[turn++];
}

block_status block::run(u64 budget) {
  u64 used = 0;
  const bool at_random = launched.order.kind == schedule_kind::random;
  for (;;) {
    bool moved = false, busy = false;
    u32 turn = 0;
    while (warp* next = next_warp(turn)) {
      warp& w = *next;
      if (w.live == 0 || !w.ready()) continue;
      moved = true;
      const u64 steps = at_random ? 1 + group.random.below(random_steps) : warp_steps;
      const u64 done = run_warp(w, std::min(steps, budget));
      used += done;
      executed_ += done;
      busy = busy || !w.yielded;
      if (launched.instruction_limit != 0 && executed_ > launched.instruction_limit) {
        fault_report report;
        report.kind = fault_kind::instruction_limit;
        report.detail =
            fmt::format("a block executed more than {} warp instructions", launched.instruction_limit);
        raise(w, w.code[w.pc == 0 ? 0 : w.pc - 1], 0, std::move(report));
      }
      group.pass_time();
    }
    if (!moved) {
      const bool alive = std::any_of(warps.begin(), warps.end(), [](const warp& w) { return w.live != 0; });
      if (!alive) {
        if (!std::exchange(finished_, true)) {
          if (launched.executed != nullptr) *launched.executed += executed_;
          for (const auto& o : observers) o->finish(*this);
        }
        return block_status::finished;
      }
      const bool ready =
          std::any_of(warps.begin(), warps.end(), [](const warp& w) { return w.live != 0 && w.ready(); });
      if (!ready && !group.complete_pending()) return block_status::blocked;
      continue;
    }
    if (used >= budget || !busy) return block_status::paused;
  }
}

// ---- barriers ----

// A warp whose live lanes have all arrived counts in full: a barrier's count is in warps, and lanes that
// ended or never were cannot come. Without a count, all threads that have not ended must come.
bool block::complete(const barrier& b) const {
  u32 present = b.arrivals;
  for (const warp& w : warps) {
    const u32 missing = w.live & ~b.arrived[w.index];
    if (!b.counted && missing != 0) return false;
    if (missing == 0 && b.arrived[w.index] != 0)
      present += warp_lanes - static_cast<u32>(std::popcount(b.arrived[w.index]));
  }
  return !b.counted || present >= b.expected;
}

void block::arrive(warp& w, const instruction& i, u32 lanes, u32 number, bool counted, u32 count,
                   u32 predicate, bool waits) {
  const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
  const auto refuse = [&](std::string detail) {
    fault_report report;
    report.kind = fault_kind::barrier;
    report.detail = std::move(detail);
    raise(w, i, lane, std::move(report));
  };
  if (number >= barriers_of_a_block)
    refuse(fmt::format("barrier {} does not exist; a block has barriers 0 to 15", number));
  const u32 all = static_cast<u32>(warps.size()) * warp_lanes;
  if (counted && (count % warp_lanes != 0 || count == 0))
    refuse(fmt::format("the thread count {} of barrier {} is not a multiple of 32", count, number));
  if (counted && count > all)
    refuse(fmt::format("barrier {} waits for {} threads; the block has {}", number, count,
                       launched.threads.count()));
  barrier& b = barriers[number];
  const u32 expected = counted ? count : all;
  if (b.open && b.expected != expected)
    refuse(fmt::format("threads arrive at barrier {} with the thread counts {} and {}", number, b.expected,
                       expected));
  b.counted = b.open ? b.counted && counted : counted;
  b.open = true;
  b.expected = expected;
  for (const auto& o : observers) o->arrived(w, i, lanes, number);
  b.arrivals += static_cast<u32>(std::popcount(lanes));
  b.arrived[w.index] |= lanes;
  b.true_count += static_cast<u32>(std::popcount(lanes & predicate));
  b.false_count += static_cast<u32>(std::popcount(lanes & ~predicate));
  if (waits) w.wait(lanes, wait_reason::barrier, number);
  if (complete(b)) release(number);
}

void block::release(u32 number) {
  barrier& b = barriers[number];
  for (const auto& o : observers) o->completed(*this, number);
  for (warp& w : warps)
    for (u32 k = 0; k < w.parked; ++k) {
      fragment& f = w.fragments[k];
      if (f.reason != wait_reason::barrier || f.key != number) continue;
      f.reason = wait_reason::none;
      const instruction& i = w.waiting_at(f);
      if (i.op != operation::bar_red) continue;
      switch (static_cast<reduce_form>(i.form)) {
        case reduce_form::popc:
          for_lanes(f.lanes, [&](unsigned lane) { put(w.file + i.to[0], lane, b.true_count); });
          break;
        case reduce_form::and_: put_mask(w, i.to[0], b.false_count == 0 ? all_lanes : 0, f.lanes); break;
        default: put_mask(w, i.to[0], b.true_count != 0 ? all_lanes : 0, f.lanes); break;
      }
    }
  b = {};
}

// Nobody waits for a thread that has ended.
void block::end_lanes(warp& w, u32 lanes) {
  w.live &= ~lanes;
  w.leave(lanes);
  settle_members(w);
  for (u32 number = 0; number < barriers_of_a_block; ++number)
    if (barriers[number].open && complete(barriers[number])) release(number);
  group.settle();
}

// ---- reports ----

std::string_view block::text_of(const instruction& i) const { return trimmed(launched.program.line(i.line)); }

void block::identify(const warp& w, const instruction& i, unsigned lane, fault_report& report) const {
  report.kernel = launched.kernel.name;
  report.ptx_line = i.line;
  report.ptx_text = std::string(text_of(i));
  report.block = index;
  report.thread = thread_of(launched, w.index, lane);
  report.warp = w.index;
  report.lane = lane;
  if (const source_place from = source_of(launched, i); !from.file.empty()) {
    report.file = from.file;
    report.line = from.line;
  }
}

void block::raise(const warp& w, const instruction& i, unsigned lane, fault_report report) const {
  identify(w, i, lane, report);
  throw fault(std::move(report));
}

u64 block::locate_object(state_space home, u64 offset, u64 address, fault_report& report) const {
  report.space = name_of(home);
  u64 total = 0;
  switch (home) {
    case state_space::global: report.object = launched.global.nearest(address); break;
    case state_space::shared:
      total = shared.size();
      report.object = nearest_variable(launched.kernel.shared, offset, total);
      if (launched.dynamic_shared != 0 && offset >= launched.kernel.dynamic_shared_offset)
        report.object = nearest_variable(
            {{"dynamic shared memory", launched.kernel.dynamic_shared_offset, launched.dynamic_shared, 1}},
            offset, 0);
      break;
    case state_space::local:
      total = launched.kernel.local_bytes;
      report.object = nearest_variable(launched.kernel.local, offset, total);
      break;
    case state_space::constant: {
      total = launched.constants.size();
      std::vector<layout> variables;
      for (const variable& v : launched.program.decoded().variables)
        if (v.space == state_space::constant) variables.push_back(v.where);
      report.object = nearest_variable(variables, offset, total);
      break;
    }
    case state_space::param:
      total = launched.parameters.size();
      report.object = nearest_variable(launched.kernel.parameters, offset, total);
      break;
    case state_space::generic: break;
  }
  if (home != state_space::global) report.object.address += address - offset;  // as the kernel sees it
  return total;
}

void block::raise_access(const warp& w, const instruction& i, unsigned lane, access_kind access,
                         state_space space, u64 address, u32 bytes, u32 alignment) const {
  if (alignment == 0) alignment = bytes;
  fault_report report;
  report.access = access;
  report.address = address;
  report.bytes = bytes;
  const bool reads = access == access_kind::read;
  const std::string_view verb = reads ? "reads" : access == access_kind::write ? "writes" : "updates";

  state_space home = space;
  u64 offset = address;
  if (space == state_space::generic) {
    home = address < shared_window                 ? state_space::global
           : address < local_window                ? state_space::shared
           : address < constant_window             ? state_space::local
           : address < param_window                ? state_space::constant
           : address - param_window < window_bytes ? state_space::param
                                                   : state_space::generic;
    if (home != state_space::global && home != state_space::generic) offset = address & (window_bytes - 1);
  }
  if (u32 place = 0; home == state_space::shared && offset < window_bytes)
    if (const block* const other = group.find(*w.owner, static_cast<u32>(offset), place);
        other != nullptr && other != this && has_ended(*other))
      group.raise_ended(w, i, lane, *other, std::move(report));
  const u64 total = locate_object(home, offset, address, report);

  const bool outside = home == state_space::global
                           ? report.object.where != nearest_object::relation::inside ||
                                 bytes > report.object.bytes - report.object.distance
                           : offset > total || bytes > total - offset;
  const bool read_only = !reads && (home == state_space::constant || home == state_space::param);
  if (report.object.freed && report.object.where == nearest_object::relation::inside) {
    report.kind = fault_kind::use_after_free;
    report.detail = fmt::format("a thread {} a buffer that was freed", verb);
  } else if (read_only) {
    report.kind = fault_kind::read_only;
    report.detail = fmt::format("a thread {} {} memory, which is read-only", verb, report.space);
  } else if (address % alignment != 0) {
    report.kind = fault_kind::misaligned;
    report.detail = fmt::format("a thread {} {} bytes at an address that is not a multiple of {}", verb,
                                bytes, alignment);
  } else if (outside) {
    report.kind = fault_kind::out_of_bounds;
    report.detail = fmt::format("a thread {} out of bounds", verb);
  } else {
    report.kind = fault_kind::out_of_bounds;
    report.detail = fmt::format("a thread {} a buffer that was allocated after the launch", verb);
  }
  raise(w, i, lane, std::move(report));
}

void block::list_waits(std::string& to, unsigned& listed) const {
  for (const warp& w : warps)
    for (u32 k = 0; k < w.parked; ++k) {
      const fragment& f = w.fragments[k];
      if (f.reason == wait_reason::none) continue;
      if (++listed > 16) continue;
      const instruction& i = w.waiting_at(f);
      const auto what = [&]() -> std::string {
        switch (f.reason) {
          case wait_reason::matrix: return "the other warps of the warpgroup to issue their wgmma.mma_async";
          case wait_reason::barrier:
            return fmt::format("barrier {} ({} of {} threads have arrived)", f.key, barriers[f.key].arrivals,
                               barriers[f.key].counted ? barriers[f.key].expected
                                                       : static_cast<u32>(launched.threads.count()));
          case wait_reason::cluster: return "the other threads of the cluster";
          case wait_reason::phase: return group.async.phases(*this).describe(f.key);
          default: return fmt::format("lanes {:#010x}", f.key);
        }
      }();
      const std::string where =
          group.blocks.size() == 1 ? "" : fmt::format("block {} of the cluster, ", rank);
      to += fmt::format("\n  {}warp {} lanes {:#010x} wait for {} at PTX line {}: {}{}", where, w.index,
                        f.lanes, what, i.line, text_of(i), missing_at(*this, w, f));
    }
}

bool block::raise_deadlock(const std::string& who) const {
  for (const warp& w : warps)
    for (u32 k = 0; k < w.parked; ++k) {
      const fragment& f = w.fragments[k];
      if (f.reason == wait_reason::none) continue;
      fault_report report;
      report.kind = fault_kind::deadlock;
      report.detail = "threads wait for each other for ever:" + who;
      raise(w, w.waiting_at(f), static_cast<unsigned>(std::countr_zero(f.lanes)), std::move(report));
    }
  return false;
}

}  // namespace kaio::emulator
