// The instructions with which the lanes of a warp work together (PTX ISA, "Parallel Synchronization and
// Communication Instructions": shfl, vote, match, redux, elect, bar.warp, activemask).
//
// A group executes an instruction: the lanes of one member mask. Usually the whole lane group reaches the
// instruction together. Otherwise the first lanes wait. The last lanes to arrive execute it for all, each
// lane with the registers of its own instruction.

#include "emulator/barrier/aligned.hpp"
#include "emulator/barrier/members.hpp"
#include "emulator/instructions/execute.hpp"
#include "emulator/machine/block.hpp"
#include "emulator/machine/lanes.hpp"
#include "emulator/machine/raise_fault.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <utility>

namespace kaio::emulator {
namespace {

// Lanes of a group at one instruction.
struct part {
  const instruction* at;
  u32 lanes;
};

struct group {
  std::array<part, warp_lanes> parts;
  u32 count = 0;
  u32 lanes = 0;  // union over the parts

  void add(const instruction& i, u32 more) {
    parts[count++] = {&i, more};
    lanes |= more;
  }
};

using values = std::array<u64, warp_lanes>;

// The first source of every lane. Lanes outside the group get the first part's register.
values sources(const warp& w, const group& g, unsigned bytes) {
  values result;
  for (u32 k = g.count; k-- > 0;) {
    const instruction& i = *g.parts[k].at;
    const auto read = [&](unsigned lane) {
      const std::byte* const row = w.file + i.from[0];
      result[lane] = bytes == 8 ? get<u64>(row, lane) : get<u32>(row, lane);
    };
    if (k == 0)
      for_lanes(~(g.lanes & ~g.parts[0].lanes), read);
    else
      for_lanes(g.parts[k].lanes, read);
  }
  return result;
}

u32 conditions(const warp& w, const group& g) {
  u32 result = 0;
  for (u32 k = 0; k < g.count; ++k) result |= condition(w, *g.parts[k].at, 0) & g.parts[k].lanes;
  return result;
}

void give(warp& w, const group& g, u32 value) {
  for (u32 k = 0; k < g.count; ++k)
    for_lanes(g.parts[k].lanes, [&](unsigned lane) { put(w.file + g.parts[k].at->to[0], lane, value); });
}

void give_predicate(warp& w, const group& g, unsigned slot, u32 mask) {
  for (u32 k = 0; k < g.count; ++k) put_mask(w, g.parts[k].at->to[slot], mask, g.parts[k].lanes);
}

void shuffle(warp& w, const group& g) {
  const values from = sources(w, g, 4);
  for (u32 k = 0; k < g.count; ++k) {
    const instruction& i = *g.parts[k].at;
    u32 in_range = 0;
    std::array<u32, warp_lanes> result;
    for_lanes(g.parts[k].lanes, [&](unsigned lane) {
      const shuffle_source source = source_of_shuffle(w, i, lane);
      if (source.in_range) in_range |= 1u << lane;
      result[lane] = static_cast<u32>(from[source.lane]);
    });
    for_lanes(g.parts[k].lanes, [&](unsigned lane) { put(w.file + i.to[0], lane, result[lane]); });
    if (i.flags.has_second) put_mask(w, i.to[1], in_range, g.parts[k].lanes);
  }
}

void vote(warp& w, const group& g, vote_form form) {
  const u32 yes = conditions(w, g);
  switch (form) {
    case vote_form::all: give_predicate(w, g, 0, yes == g.lanes ? all_lanes : 0); break;
    case vote_form::any: give_predicate(w, g, 0, yes != 0 ? all_lanes : 0); break;
    case vote_form::uni: give_predicate(w, g, 0, yes == 0 || yes == g.lanes ? all_lanes : 0); break;
    case vote_form::ballot: give(w, g, yes); break;
  }
}

void match(warp& w, const group& g, const instruction& first) {
  const values from = sources(w, g, ptx::size_of(first.type));
  if (static_cast<match_form>(first.form) == match_form::any) {
    for (u32 k = 0; k < g.count; ++k)
      for_lanes(g.parts[k].lanes, [&](unsigned lane) {
        u32 equal = 0;
        for_lanes(g.lanes, [&](unsigned other) {
          if (from[other] == from[lane]) equal |= 1u << other;
        });
        put(w.file + g.parts[k].at->to[0], lane, equal);
      });
    return;
  }
  const u64 value = from[static_cast<unsigned>(std::countr_zero(g.lanes))];
  bool same = true;
  for_lanes(g.lanes, [&](unsigned lane) { same = same && from[lane] == value; });
  give(w, g, same ? g.lanes : 0);
  give_predicate(w, g, 1, same ? all_lanes : 0);
}

void reduce(warp& w, const group& g, const instruction& first) {
  const values from = sources(w, g, 4);
  const bool is_signed = first.type == ptx::type::s32;
  u32 total = static_cast<u32>(from[static_cast<unsigned>(std::countr_zero(g.lanes))]);
  for_lanes(g.lanes & (g.lanes - 1), [&](unsigned lane) {
    const u32 v = static_cast<u32>(from[lane]);
    const bool less = is_signed ? static_cast<s32>(v) < static_cast<s32>(total) : v < total;
    switch (static_cast<reduce_form>(first.form)) {
      case reduce_form::add: total += v; break;
      case reduce_form::min: total = less ? v : total; break;
      case reduce_form::max: total = less ? total : v; break;
      case reduce_form::and_: total &= v; break;
      case reduce_form::or_: total |= v; break;
      case reduce_form::xor_: total ^= v; break;
      case reduce_form::popc: break;
    }
  });
  give(w, g, total);
}

void elect(warp& w, const group& g) {
  const auto leader = static_cast<u32>(std::countr_zero(g.lanes));
  give(w, g, leader);
  give_predicate(w, g, 1, 1u << leader);
}

void perform(warp& w, const group& g) {
  const instruction& first = *g.parts[0].at;
  switch (first.op) {
    case operation::shfl: shuffle(w, g); break;
    case operation::vote: vote(w, g, static_cast<vote_form>(first.form)); break;
    case operation::match: match(w, g, first); break;
    case operation::redux: reduce(w, g, first); break;
    case operation::elect: elect(w, g); break;
    default: break;  // bar.warp.sync: only the meeting counts
  }
}

bool same_form(const instruction& a, const instruction& b) {
  return a.op == b.op && a.type == b.type && a.form == b.form;
}

// The lanes that wait with this member mask for an instruction of this form.
u32 gather(const warp& w, u32 members, const instruction& form, group& g) {
  u32 waiting = 0;
  for (u32 k = 0; k < w.parked; ++k) {
    const lane_group& f = w.lane_groups[k];
    if (f.reason != wait_reason::members || f.key != members || !same_form(w.waiting_at(f), form)) continue;
    g.add(w.waiting_at(f), f.lanes);
    waiting |= f.lanes;
  }
  return waiting;
}

void wake(warp& w, u32 lanes) {
  for (u32 k = 0; k < w.parked; ++k)
    if ((w.lane_groups[k].lanes & lanes) != 0) w.lane_groups[k].reason = wait_reason::none;
}

// Executes one instruction for lanes with the same member mask.
void meet(warp& w, const instruction& i, u32 lanes, u32 members) {
  if ((lanes & ~members) != 0) {
    const auto lane = static_cast<unsigned>(std::countr_zero(lanes & ~members));
    fault_report report;
    report.kind = fault_kind::member_mask;
    report.detail = fmt::format(
        "lane {} executes a .sync instruction whose member mask {:#010x} does not name it", lane, members);
    raise_fault(w, i, lane, std::move(report));
  }
  group g;
  g.add(i, lanes);
  const u32 needed = members & w.live;
  if (lanes == needed) {
    perform(w, g);
    for (const auto& o : w.owner->observers) o->met(w, i, lanes, members);
    return;
  }
  const u32 waiting = gather(w, members, i, g);
  if ((lanes | waiting) != needed) {
    w.wait(lanes, wait_reason::members, members);
    return;
  }
  perform(w, g);
  for (const auto& o : w.owner->observers) o->met(w, i, lanes | waiting, members);
  wake(w, waiting);
  w.limit = 0;  // the others are ready again, and some may have a lower program counter
}

void synchronous(warp& w, const instruction& i, u32 mask) {
  const std::byte* const row = w.file + i.from[4];
  for (u32 left = mask; left != 0;) {
    const u32 members = get<u32>(row, static_cast<unsigned>(std::countr_zero(left)));
    u32 lanes = 0;
    for_lanes(left, [&](unsigned lane) {
      if (get<u32>(row, lane) == members) lanes |= 1u << lane;
    });
    meet(w, i, lanes, members);
    left &= ~lanes;
  }
}

// Without .sync: executes for the lanes that are active together.
void together(warp& w, const instruction& i, u32 mask) {
  if (mask == 0) return;
  group g;
  g.add(i, mask);
  perform(w, g);
}

void active_mask(warp& w, const instruction& i, u32 mask) {
  for_lanes(mask, [&](unsigned lane) { put(w.file + i.to[0], lane, mask); });
}

}  // namespace

shuffle_source source_of_shuffle(const warp& w, const instruction& i, unsigned lane) {
  const u32 b = get<u32>(w.file + i.from[1], lane) & 31;
  const u32 c = get<u32>(w.file + i.from[2], lane);
  const u32 segment = c >> 8 & 31, clamp = c & 31;
  const u32 least = lane & segment;
  const u32 most = least | (clamp & ~segment);
  u32 source = lane;
  bool in_range = false;
  switch (static_cast<shuffle_form>(i.form)) {
    case shuffle_form::up:
      source = lane - b;
      in_range = static_cast<s32>(source) >= static_cast<s32>(most);
      break;
    case shuffle_form::down:
      source = lane + b;
      in_range = source <= most;
      break;
    case shuffle_form::bfly:
      source = lane ^ b;
      in_range = source <= most;
      break;
    case shuffle_form::idx:
      source = least | (b & ~segment);
      in_range = source <= most;
      break;
  }
  return {in_range ? source : lane, in_range};
}

void settle_members(warp& w) {
  for (u32 k = 0; k < w.parked; ++k) {
    const lane_group& f = w.lane_groups[k];
    if (f.reason != wait_reason::members) continue;
    group g;
    const u32 waiting = gather(w, f.key, w.waiting_at(f), g);
    if (waiting != (f.key & w.live)) continue;
    if (is_aligned(w.waiting_at(f).op)) raise_not_aligned(w, w.waiting_at(f), waiting);
    perform(w, g);
    for (const auto& o : w.owner->observers) o->met(w, w.waiting_at(f), waiting, f.key);
    wake(w, waiting);
  }
}

handler warp_handler(const instruction& i) {
  switch (i.op) {
    case operation::warp_sync:
    case operation::shfl:
    case operation::vote:
    case operation::match:
    case operation::redux:
    case operation::elect: return i.flags.unsynchronised ? &together : &synchronous;
    case operation::activemask: return &active_mask;
    default: return nullptr;
  }
}

}  // namespace kaio::emulator
