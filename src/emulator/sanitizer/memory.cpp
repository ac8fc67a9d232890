// Which memory an access goes to, reads of bytes that were never written, and writes to buffers that are only
// to be read. A value is reported when all of its bytes are missing: some may be the padding of a struct.

#include "emulator/machine/cluster.hpp"
#include "emulator/machine/lanes.hpp"
#include "emulator/machine/locate_object.hpp"
#include "emulator/machine/raise_fault.hpp"
#include "emulator/memory/bit_ranges.hpp"
#include "emulator/sanitizer/watcher.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace kaio::emulator::sanitizing {

const piece* watched::buffer_at(const std::byte* at) const {
  const auto above = std::upper_bound(buffers.begin(), buffers.end(), at,
                                      [](const std::byte* a, const piece& p) { return a < p.data; });
  if (above == buffers.begin()) return nullptr;
  const piece& p = *std::prev(above);
  return p.contains(at) ? &p : nullptr;
}

piece* watcher::shared_of(const block& b) {
  watcher* const home = grid_.watcher_of(b);
  return home == nullptr ? nullptr : &home->shared_;
}

const piece* watcher::find(const std::byte* at, u32 site) {
  const piece*& known = site_pieces_[site < site_pieces_.size() ? site : 0];
  if (known != nullptr && known->contains(at)) return known;
  const piece* p = nullptr;
  if (shared_.contains(at)) {
    p = &shared_;
  } else if (local_.contains(at)) {
    p = &local_;
  } else {
    p = grid_.buffer_at(at);
    for (const auto& b : block_.group.blocks) {
      if (p != nullptr) break;
      const piece* const other = shared_of(*b);
      if (other != nullptr && other->contains(at)) p = other;
    }
  }
  if (p != nullptr) known = p;
  return p;
}

void watcher::access(warp& w, const instruction& i, u32 mask, u32 bytes, access_kind kind,
                     const std::byte* const (&at)[warp_lanes]) {
  if (mask == 0) return;
  const auto first = static_cast<unsigned>(std::countr_zero(mask));
  u32 left = mask;
  // Mostly one turn: a generic address may be in another piece for every lane.
  for (unsigned lead = first; left != 0; lead = static_cast<unsigned>(std::countr_zero(left))) {
    const piece* const p = find(at[lead], i.site);
    u32 here = 0;
    if (p == nullptr) {
      here = 1u << lead;  // constants and parameters
    } else {
      u32 apart = 0;
      const u64 last = p->bytes - bytes;
      for_lanes(left, [&](unsigned lane) {
        if (static_cast<u64>(at[lane] - p->data) > last) apart |= 1u << lane;
      });
      here = left & ~apart;
    }
    left &= ~here;
    if (p == nullptr) continue;
    bool consecutive = here == all_lanes;
    for (unsigned lane = 1; consecutive && lane < warp_lanes; ++lane)
      consecutive = at[lane] == at[0] + lane * bytes;
    if (p->input != nullptr && kind != access_kind::read && grid_.reports.wants(check::memory))
      report_input(w, i, lead, bytes, kind, *p, static_cast<u64>(at[lead] - p->data));
    if (i.op == operation::mbarrier) {  // its own rules hold
      if (p->defined != nullptr) write_bytes(i, here, bytes, *p, at, consecutive);
      continue;
    }
    if (p->defined != nullptr) {
      if (kind != access_kind::write) read_bytes(w, i, here, bytes, *p, at, consecutive);
      if (kind != access_kind::read) write_bytes(i, here, bytes, *p, at, consecutive);
    }
    if (p->lines != nullptr) check_races(w, i, here, bytes, kind, *p, at);
  }
}

void watcher::read_bytes(warp& w, const instruction& i, u32 mask, u32 bytes, const piece& p,
                         const std::byte* const (&at)[warp_lanes], bool consecutive) {
  if (!grid_.reports.wants(check::uninitialised)) return;
  if (consecutive && all_bits(p.defined, static_cast<u64>(at[0] - p.data), u64{bytes} * warp_lanes)) return;
  const u32 element = i.op == operation::ld && i.count > 1 ? bytes / i.count : bytes;
  u32 missing[8] = {};
  u32 missing_whole = 0;
  for_lanes(mask, [&](unsigned lane) {
    const u64 offset = static_cast<u64>(at[lane] - p.data);
    const u32 have = bytes <= 32                          ? get_bits(p.defined, offset, bytes)
                     : all_bits(p.defined, offset, bytes) ? all_lanes
                                                          : 0;
    if (have == 0) missing_whole |= 1u << lane;
    if (i.op != operation::ld) return;
    const u32 all = element >= 32 ? all_lanes : (1u << element) - 1;
    for (u32 e = 0; e * element < bytes; ++e)
      if ((have >> e * element & all) == 0) missing[e] |= 1u << lane;
  });
  if (missing_whole != 0 && p.space != state_space::local) {
    const auto lane = static_cast<unsigned>(std::countr_zero(missing_whole));
    report_read(w, i, lane, bytes, p, static_cast<u64>(at[lane] - p.data));
    return;
  }
  if (i.op != operation::ld) return;
  // A struct is copied with its unwritten bytes: its registers are no values.
  u32* const defined = registers_of(w);
  for (u32 e = 0; e < i.count; ++e)
    if (const u32 reg = grid_.uses.register_at(i.to[e]); reg != no_register) defined[reg] &= ~missing[e];
}

void watcher::write_bytes(const instruction& i, u32 mask, u32 bytes, const piece& p,
                          const std::byte* const (&at)[warp_lanes], bool consecutive) {
  const bool whole = i.op != operation::discard;
  if (consecutive) {
    set_bits(p.defined, static_cast<u64>(at[0] - p.data), u64{bytes} * warp_lanes, whole);
  } else {
    for_lanes(mask,
              [&](unsigned lane) { set_bits(p.defined, static_cast<u64>(at[lane] - p.data), bytes, whole); });
  }
  if (!stores_undefined_ || i.op != operation::st) return;
  const u32 element = bytes / i.count;
  for (u32 e = 0; e < i.count; ++e)
    for_lanes(mask & undefined_elements_[e], [&](unsigned lane) {
      set_bits(p.defined, static_cast<u64>(at[lane] - p.data) + u64{e} * element, element, false);
    });
  stores_undefined_ = false;
}

void watcher::called(warp& w, const instruction&, u32 lanes, u32 bytes,
                     const std::byte* const (&frame)[warp_lanes]) {
  static_cast<void>(w);
  for_lanes(lanes, [&](unsigned lane) {
    if (bytes != 0 && local_.contains(frame[lane]))
      set_bits(local_.defined, static_cast<u64>(frame[lane] - local_.data), bytes, false);
  });
}

// ---- reports ----

void watcher::describe_place(const piece& p, u64 offset, u32 bytes, access_kind kind, fault_report& r) const {
  r.access = kind;
  r.bytes = bytes;
  if (p.space == state_space::global) {
    r.address = p.address + offset;
    locate_object(block_, p.space, r.address, r.address, r);
    return;
  }
  const u64 within = p.space == state_space::local ? offset % block_.launched.kernel.local_bytes : offset;
  r.address = within;
  locate_object(block_, p.space, within, within, r);
  if (p.home != nullptr && p.home != this) {
    const ptx::dim3& of = p.home->block_.index;
    r.detail += fmt::format("; the memory is that of block ({}, {}, {}) of the cluster", of.x, of.y, of.z);
  }
}

void watcher::report_read(warp& w, const instruction& i, unsigned lane, u32 bytes, const piece& p,
                          u64 offset) {
  fault_report r;
  r.kind = fault_kind::uninitialised;
  identify(w, i, lane, r);
  if (!grid_.reports.is_new(check::uninitialised, r.ptx_line)) return;
  r.detail = "a thread reads memory that was never written";
  describe_place(p, offset, bytes, access_kind::read, r);
  // How far it was written: the nearest bytes around that were.
  u64 below = offset, above = offset + bytes;
  const u64 reach_bytes = 1u << 20;
  while (below > 0 && offset - below < reach_bytes && !test_bit(p.defined, below - 1)) --below;
  while (above < p.bytes && above - offset < reach_bytes && !test_bit(p.defined, above)) ++above;
  const bool none = below == 0 && above == p.bytes;
  const bool at_start = below == 0 || offset - below >= reach_bytes;
  r.advice =
      none ? std::string("nothing was written to it at all: ")
      : at_start
          ? fmt::format("the bytes from {} to {} of this memory were never written: ", below, above)
          : fmt::format("it is written up to byte {}, and the next {} bytes were never written: ", below,
                        above - below);
  r.advice += p.space == state_space::global
                  ? "fill the buffer before the launch, or widen the loop that writes it"
                  : "write it before, or guard the read as the write is guarded";
  if (p.lines == nullptr || !grid_.reports.wants(check::races)) {
    grid_.reports.report(check::uninitialised, std::move(r));
    return;
  }
  for (const watched::early_read& e : grid_.early_reads)
    if (e.report.ptx_line == r.ptx_line) return;
  const bool shared = p.space == state_space::shared;
  grid_.early_reads.push_back({p.data + offset, shared ? p.home->number_ : watched::no_block, std::move(r)});
}

void watched::tell_early_reads(u32 block) {
  for (std::size_t k = 0; k < early_reads.size();) {
    if (block != no_block && early_reads[k].block != block) {
      ++k;
      continue;
    }
    fault_report r = std::move(early_reads[k].report);
    early_reads.erase(early_reads.begin() + static_cast<std::ptrdiff_t>(k));
    reports.report(check::uninitialised, std::move(r));
  }
}

void watcher::report_input(warp& w, const instruction& i, unsigned lane, u32 bytes, access_kind kind,
                           const piece& p, u64 offset) {
  fault_report r;
  r.kind = fault_kind::read_only;
  identify(w, i, lane, r);
  r.detail = fmt::format("a thread writes a buffer that is passed as the input '{}'", p.input);
  describe_place(p, offset, bytes, kind, r);
  r.advice = "declare the parameter as out or inout, or write to another buffer";
  grid_.reports.report(check::memory, std::move(r));
}

}  // namespace kaio::emulator::sanitizing
