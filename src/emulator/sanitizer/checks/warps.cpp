#include "emulator/sanitizer/checks/warps.hpp"

#include "emulator/barrier/members.hpp"
#include "emulator/machine/lanes.hpp"
#include "emulator/machine/raise_fault.hpp"

#include <fmt/format.h>

#include <bit>
#include <string_view>
#include <utility>

namespace kaio::emulator::sanitizing {
namespace {

std::string_view name_of(operation op, bool of_kaio) {
  switch (op) {
    case operation::shfl: return "a shuffle";
    case operation::vote: return "a vote";
    case operation::match: return "a match";
    case operation::redux: return "a reduction";
    case operation::elect: return "an election";
    default: return of_kaio ? "sync_warp" : "bar.warp.sync";
  }
}

// True if the results come from the values of the sources, lane by lane.
bool is_computation(operation op) {
  return op < operation::ld || op == operation::to_generic || op == operation::from_generic ||
         op == operation::isspacep || op == operation::video;
}

bool is_memory_access(operation op) {
  return op == operation::ld || op == operation::st || op == operation::atom || op == operation::red;
}

bool is_of_predicates(const instruction& i) { return i.type == ptx::type::pred; }

}  // namespace

warp_check::warp_check(watched_block& b) : grid_(b.grid), block_(b) { warps_.resize(b.warps); }

void warp_check::start() {
  for (registers_of_warp& r : warps_) {
    r.values.clear();
    r.held = 0;
  }
}

// ---- masks that name missing lanes ----

void warp_check::met(const warp& w, const instruction& i, u32 lanes, u32 members) {
  const u32 missing = members & ~lanes;
  if (missing == 0 || !grid_.reports.wants(check::warps)) return;
  const u32 ended = missing & w.existing;
  u32 absent = missing & ~w.existing;
  // If lanes only wait, nothing depends on missing lanes: the usual full mask is accepted.
  if (i.op == operation::warp_sync || i.op == operation::elect) absent = 0;
  if ((ended | absent) == 0) return;
  fault_report r;
  r.kind = fault_kind::member_mask;
  identify(w, i, static_cast<unsigned>(std::countr_zero(lanes)), r);
  if (!grid_.reports.is_new(check::warps, r.ptx_line)) return;
  r.detail = fmt::format("{} names lanes {:#010x} in its member mask {:#010x}, and ",
                         name_of(i.op, grid_.of_kaio), ended | absent, members);
  if (absent == 0)
    r.detail += "they have ended without it";
  else if (ended == 0)
    r.detail += fmt::format("the warp has only lanes {:#010x}", w.existing);
  else
    r.detail +=
        fmt::format("the warp has only lanes {:#010x}, of which {:#010x} have ended", w.existing, ended);
  r.advice =
      ended != 0
          ? "every lane in the mask must execute the instruction: guard the use of its result instead, and give idle lanes a neutral value; or use the mask from ballot(condition) before the guard"
          : "name the lanes that the block has: the last warp of a block whose size is no multiple of 32 is partial";
  grid_.reports.report(check::warps, std::move(r));
}

// ---- values of lanes that are no members ----

const warp_check::undefined_value& warp_check::at_row(const registers_of_warp& r, u32 row) const {
  static const undefined_value none;
  const u32 number = grid_.uses.register_at(row);
  return number == no_register || r.values.empty() ? none : r.values[number];
}

// The lanes of `mask` write a register; in `v.lanes` its value is undefined.
void warp_check::set(registers_of_warp& r, u32 number, u32 mask, const undefined_value& v) {
  undefined_value& to = r.values[number];
  const u32 before = to.lanes, lanes = (before & ~mask) | (v.lanes & mask);
  if ((v.lanes & mask) != 0) to = v;
  to.lanes = lanes;
  if (before == 0 && lanes != 0) ++r.held;
  if (before != 0 && lanes == 0) --r.held;
}

void warp_check::before(const warp& w, const instruction& i, u32 mask) {
  if (!grid_.reports.wants(check::warps)) return;
  if (i.op == operation::shfl && !i.flags.unsynchronised)
    shuffle(w, i, mask);
  else if (warps_[w.index].held != 0)
    compute(w, i, mask);
}

void warp_check::shuffle(const warp& w, const instruction& i, u32 mask) {
  registers_of_warp& r = warps_[w.index];
  const std::byte* const members = w.file + i.from[4];
  bool everybody = true;
  for_lanes(mask, [&](unsigned lane) { everybody = everybody && get<u32>(members, lane) == all_lanes; });
  if (everybody && r.held == 0) return;
  if (r.values.empty()) r.values.resize(block_.of.launched.kernel.register_rows.size());
  const undefined_value source = at_row(r, i.from[0]);
  undefined_value result = source;
  result.lanes = 0;
  for_lanes(mask, [&](unsigned lane) {
    const u32 named = get<u32>(members, lane);
    const shuffle_source from = source_of_shuffle(w, i, lane);
    const u32 bit = 1u << from.lane;
    if (from.in_range && (named & bit) == 0) {
      const u32 lanes = result.lanes | 1u << lane;
      const bool past_end = named == w.existing && (w.existing & bit) == 0;
      if (result.lanes == 0 || (result.past_end && !past_end))
        result = {0, static_cast<u32>(&i - w.code), named, from.lane, lane, past_end};
      result.lanes = lanes;
    } else if ((source.lanes & mask & bit) != 0) {
      result.lanes |= 1u << lane;
    }
  });
  const u32 number = grid_.uses.register_at(i.to[0]);
  if (number != no_register) set(r, number, mask, result);
}

void warp_check::compute(const warp& w, const instruction& i, u32 mask) {
  registers_of_warp& r = warps_[w.index];
  const usage& u = grid_.uses.of(static_cast<u32>(&i - w.code));
  const u32* const reads = block_.of.launched.kernel.uses.data() + i.uses;
  const u32* const writes = reads + i.reads;
  if (i.op == operation::call || i.op == operation::ret)
    grid_.uses.for_handed_over(block_.of.launched.kernel, [&](u32 number) { set(r, number, mask, {}); });
  const undefined_value guard = u.guard == no_register ? undefined_value{} : r.values[u.guard];
  if (!is_computation(i.op) && (guard.lanes & w.active) != 0) use(w, i, guard.lanes & w.active, guard);
  if (mask == 0 && (guard.lanes & w.active) == 0) return;

  undefined_value result;
  const auto add = [&](const undefined_value& v, u32 lanes) {
    if ((v.lanes & lanes) == 0) return;
    const u32 all = result.lanes | (v.lanes & lanes);
    result = v;
    result.lanes = all;
  };
  if (is_memory_access(i.op)) {
    const bool to_stack =
        i.op == operation::st && i.space == state_space::local;  // as compilers copy structs
    const u32 address = i.from_bytes == 0 ? no_register : grid_.uses.register_at(i.from[0]);
    for (u32 k = 0; k < i.reads; ++k) {
      const undefined_value& v = r.values[reads[k]];
      if ((v.lanes & mask) == 0 || reads[k] == u.guard) continue;
      if (reads[k] == address || !(to_stack || (v.past_end && i.op == operation::st)))
        use(w, i, v.lanes & mask, v);
    }
  } else if (i.op == operation::selp) {
    const u32 first = condition(w, i, 2);
    add(at_row(r, i.from[0]), mask & first);
    add(at_row(r, i.from[1]), mask & ~first);
    add(at_row(r, i.from[2]), mask);
  } else if (is_computation(i.op)) {
    for (u32 k = 0; k < i.reads; ++k)
      if (reads[k] != u.guard) add(r.values[reads[k]], mask);
    // The other operand may decide alone: false and anything is false.
    const auto decides = [&](u32 row, u32 value, bool is_and) {
      result.lanes &= ~((is_and ? ~value : value) & ~at_row(r, row).lanes);
    };
    if (is_of_predicates(i) && (i.op == operation::and_ || i.op == operation::or_)) {
      for (unsigned slot = 0; slot < 2; ++slot)
        decides(i.from[slot], get_mask(w, i.from[slot]), i.op == operation::and_);
    } else if (i.op == operation::setp && (i.combine == combination::and_ || i.combine == combination::or_)) {
      decides(i.from[2], condition(w, i, 2), i.combine == combination::and_);
    }
  }
  if (is_computation(i.op)) add(guard, w.active);
  for (u32 k = 0; k < i.writes; ++k) set(r, writes[k], mask | result.lanes, result);
}

void warp_check::use(const warp& w, const instruction& i, u32 lanes, const undefined_value& v) {
  const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
  const instruction& shuffle = w.code[v.pc];
  fault_report r;
  r.kind = fault_kind::member_mask;
  identify(w, shuffle, lane, r);
  if (!grid_.reports.is_new(check::warps, r.ptx_line)) return;
  r.detail = fmt::format(
      "a shuffle by lane {} reads lane {}, which its member mask {:#010x} does not name: the value is undefined, and it is used",
      v.reader, v.source, v.members);
  other_access& o = r.other;
  o.ptx_line = i.line;
  o.ptx_text = std::string(text_of(block_.of.launched, i));
  if (const source_place from = source_of(block_.of.launched, i); !from.file.empty()) {
    o.file = from.file;
    o.line = from.line;
  }
  o.block = r.block;
  o.thread = r.thread;
  o.warp = r.warp;
  o.lane = r.lane;
  o.how = "use of the value";
  r.advice =
      "name the lane in the member mask and let it execute the shuffle, read one of the members, or select another value where there is none";
  grid_.reports.report(check::warps, std::move(r));
}

}  // namespace kaio::emulator::sanitizing
