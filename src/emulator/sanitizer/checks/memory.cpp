#include "emulator/sanitizer/checks/memory.hpp"

#include "emulator/machine/cluster.hpp"
#include "emulator/machine/lanes.hpp"
#include "emulator/machine/raise_fault.hpp"
#include "emulator/memory/bit_ranges.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

namespace kaio::emulator::sanitizing {

memory_check::memory_check(watched_block& b, register_check& registers)
    : grid_(b.grid), block_(b), registers_(registers) {
  site_pieces_.resize(std::max<std::size_t>(b.of.launched.kernel.sites, 1));
}

const piece* memory_check::search(const std::byte* at) const {
  if (block_.shared.contains(at)) return &block_.shared;
  if (block_.local.contains(at)) return &block_.local;
  if (const piece* const p = grid_.buffer_at(at); p != nullptr) return p;
  for (const auto& b : block_.of.group.blocks) {
    const watched_block* const other = grid_.watched(*b);
    if (other != nullptr && other->shared.contains(at)) return &other->shared;
  }
  return nullptr;
}

void memory_check::access(warp& w, const instruction& i, u32 mask, u32 bytes, access_kind kind,
                          const piece& p, const std::byte* const (&at)[warp_lanes], bool consecutive) {
  if (p.input != nullptr && kind != access_kind::read && grid_.reports.wants(check::memory)) {
    const auto lane = static_cast<unsigned>(std::countr_zero(mask));
    report_input(w, i, lane, bytes, kind, p, static_cast<u64>(at[lane] - p.data));
  }
  if (p.space != state_space::global) check_variable(w, i, mask, bytes, kind, p, at);
  if (p.defined == nullptr) return;
  const bool of_mbarrier = i.op == operation::mbarrier;  // counts as a write
  if (kind != access_kind::write && !of_mbarrier) read(w, i, mask, bytes, p, at, consecutive);
  if (kind != access_kind::read || of_mbarrier) write(i, mask, bytes, p, at, consecutive);
}

void memory_check::issued(const async_operation& o, const async_range& range, const piece& p, u64 offset) {
  warp& w = *o.by;
  const instruction& i = *o.issued;
  const auto bytes = static_cast<u32>(range.bytes);
  if (p.defined != nullptr) {
    if (range.access != access_kind::write && grid_.reports.wants(check::uninitialised)) {
      bool any = false;
      for (u64 k = 0; k < range.bytes && !any; ++k) any = test_bit(p.defined, offset + k);
      if (!any) report_read(w, i, o.lane, bytes, p, offset);
    }
    if (range.access != access_kind::read) set_bits(p.defined, offset, range.bytes, true);
  }
  if (range.access != access_kind::read && p.input != nullptr && grid_.reports.wants(check::memory))
    report_input(w, i, o.lane, bytes, range.access, p, offset);
}

void memory_check::read(warp& w, const instruction& i, u32 mask, u32 bytes, const piece& p,
                        const std::byte* const (&at)[warp_lanes], bool consecutive) {
  if (!grid_.reports.wants(check::uninitialised)) return;
  if (consecutive && all_bits(p.defined, static_cast<u64>(at[0] - p.data), u64{bytes} * warp_lanes)) return;
  const u32 element = i.op == operation::ld && i.count > 1 ? bytes / i.count : bytes;
  u32 missing[8] = {}, parts[8] = {};  // lanes, per element
  u32 missing_whole = 0;
  const bool updates = i.op == operation::atom || i.op == operation::red;
  for_lanes(mask, [&](unsigned lane) {
    const u64 offset = static_cast<u64>(at[lane] - p.data);
    const u32 have = bytes <= 32                          ? get_bits(p.defined, offset, bytes)
                     : all_bits(p.defined, offset, bytes) ? all_lanes
                                                          : 0;
    if (have == 0) missing_whole |= 1u << lane;
    if (i.op != operation::ld && !updates) return;
    const u32 all = element >= 32 ? all_lanes : (1u << element) - 1;
    for (u32 e = 0; e * element < bytes; ++e) {
      const u32 of_element = have >> e * element & all;
      if (of_element == 0)
        missing[e] |= 1u << lane;
      else if (of_element != all && element <= 8)  // a 16-byte element is no number
        parts[e] |= 1u << lane;
    }
  });
  if (missing_whole != 0 && p.space != state_space::local) {
    const auto lane = static_cast<unsigned>(std::countr_zero(missing_whole));
    report_read(w, i, lane, bytes, p, static_cast<u64>(at[lane] - p.data));
    return;
  }
  for (u32 e = 0; e < 8 && p.space != state_space::local; ++e) {
    if (parts[e] == 0) continue;
    const auto lane = static_cast<unsigned>(std::countr_zero(parts[e]));
    report_read(w, i, lane, element, p, static_cast<u64>(at[lane] - p.data) + u64{e} * element);
    return;
  }
  if (i.op != operation::ld) return;
  // A struct is copied with its unwritten bytes, so these registers hold no values.
  registers_.loaded_undefined(w, i, missing, parts);
}

void memory_check::write(const instruction& i, u32 mask, u32 bytes, const piece& p,
                         const std::byte* const (&at)[warp_lanes], bool consecutive) {
  const bool whole = i.op != operation::discard;
  if (consecutive) {
    set_bits(p.defined, static_cast<u64>(at[0] - p.data), u64{bytes} * warp_lanes, whole);
  } else {
    for_lanes(mask,
              [&](unsigned lane) { set_bits(p.defined, static_cast<u64>(at[lane] - p.data), bytes, whole); });
  }
  if (!registers_.stores_undefined() || i.op != operation::st) return;
  const u32 element = bytes / i.count;
  for (u32 e = 0; e < i.count; ++e)
    for_lanes(mask & registers_.undefined_lanes(e), [&](unsigned lane) {
      set_bits(p.defined, static_cast<u64>(at[lane] - p.data) + u64{e} * element, element, false);
    });
  registers_.stored();
}

void memory_check::called(u32 lanes, u32 bytes, const std::byte* const (&frame)[warp_lanes]) {
  const piece& local = block_.local;
  for_lanes(lanes, [&](unsigned lane) {
    if (bytes != 0 && local.contains(frame[lane]))
      set_bits(local.defined, static_cast<u64>(frame[lane] - local.data), bytes, false);
  });
}

// ---- reports ----

void memory_check::report_read(warp& w, const instruction& i, unsigned lane, u32 bytes, const piece& p,
                               u64 offset) {
  fault_report r;
  r.kind = fault_kind::uninitialised;
  identify(w, i, lane, r);
  if (!grid_.reports.is_new(check::uninitialised, r.ptx_line)) return;
  u32 missing = 0;
  u64 first = offset + bytes;
  for (u64 k = offset + bytes; k-- > offset;)
    if (!test_bit(p.defined, k)) ++missing, first = k;
  r.detail = missing == bytes ? "a thread reads memory that was never written"
                              : fmt::format("a thread reads {} bytes; {} of them {} never written", bytes,
                                            missing, missing == 1 ? "was" : "were");
  block_.describe_place(p, offset, bytes, access_kind::read, r);
  // The extent of the written memory: the nearest written bytes around.
  u64 below = first, above = missing == bytes ? offset + bytes : first + 1;
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
  const bool shared = p.space == state_space::shared;
  grid_.early.add(p.data + offset, shared ? p.home->number : early_reads::no_block, std::move(r));
}

// The variable from which the address comes must hold all bytes of the access.
void memory_check::check_variable(warp& w, const instruction& i, u32 mask, u32 bytes, access_kind kind,
                                  const piece& p, const std::byte* const (&at)[warp_lanes]) {
  if (i.op != operation::ld && i.op != operation::st && i.op != operation::atom && i.op != operation::red)
    return;
  const known_address* const v = grid_.origins.of_site(i.site);
  if (v == nullptr || v->space != p.space || p.home != &block_ || !grid_.reports.wants(check::memory)) return;
  const entry& kernel = block_.of.launched.kernel;
  const u64 period = p.space == state_space::local ? kernel.local_bytes : p.bytes;
  u32 outside = 0;
  for_lanes(mask, [&](unsigned lane) {
    const u64 offset = static_cast<u64>(at[lane] - p.data) % period;
    if (offset < v->offset || offset + bytes > v->offset + v->bytes) outside |= 1u << lane;
  });
  if (outside == 0) return;
  const auto lane = static_cast<unsigned>(std::countr_zero(outside));
  fault_report r;
  r.kind = fault_kind::out_of_bounds;
  identify(w, i, lane, r);
  if (!grid_.reports.is_new(check::memory, r.ptx_line)) return;
  const std::vector<layout>& variables = p.space == state_space::shared ? kernel.shared : kernel.local;
  const auto named = std::find_if(variables.begin(), variables.end(), [&](const layout& l) {
    return l.offset == v->offset && l.bytes == v->bytes;
  });
  const u64 offset = static_cast<u64>(at[lane] - p.data);
  r.detail = fmt::format("a thread leaves the variable '{}' of {} bytes: its access is at byte {}",
                         named == variables.end() ? "" : named->name, v->bytes,
                         static_cast<s64>(offset % period) - static_cast<s64>(v->offset));
  r.advice = "check the index; or declare one array for all that the address may reach";
  block_.describe_place(p, offset, bytes, kind, r);
  grid_.reports.report(check::memory, std::move(r));
}

void memory_check::report_input(warp& w, const instruction& i, unsigned lane, u32 bytes, access_kind kind,
                                const piece& p, u64 offset) {
  fault_report r;
  r.kind = fault_kind::read_only;
  identify(w, i, lane, r);
  r.detail = fmt::format("a thread writes a buffer that is passed as the input '{}'", p.input);
  block_.describe_place(p, offset, bytes, kind, r);
  r.advice = "declare the parameter as out or inout, or write to another buffer";
  grid_.reports.report(check::memory, std::move(r));
}

}  // namespace kaio::emulator::sanitizing
