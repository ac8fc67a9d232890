// A warpgroup issues products, commits them in groups and waits for groups. multiply_wgmma.cpp computes the
// products.

#include "emulator/barrier/aligned.hpp"
#include "emulator/instructions/execute.hpp"
#include "emulator/instructions/matrix/wgmma.hpp"
#include "emulator/instructions/matrix/wgmma_operand.hpp"
#include "emulator/machine/block.hpp"
#include "emulator/machine/lanes.hpp"
#include "emulator/machine/raise_access.hpp"
#include "emulator/machine/raise_fault.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

namespace kaio::emulator {
namespace {

constexpr u32 all_members = (1u << warps_of_a_warpgroup) - 1;

u32 first_warp_of(const warp& w) { return w.index - rank_in_warpgroup(w); }

[[noreturn]] void refuse(warp& w, const instruction& i, std::string detail) {
  fault_report report;
  report.kind = fault_kind::member_mask;
  report.detail = std::move(detail);
  raise_fault(w, i, 0, std::move(report));
}

// A value that must be equal in all lanes.
u64 uniform(warp& w, const instruction& i, u32 row, std::string_view name) {
  const u64 value = get<u64>(w.file + row, 0);
  for (unsigned lane = 1; lane < warp_lanes; ++lane)
    if (get<u64>(w.file + row, lane) != value)
      refuse(w, i,
             fmt::format("the lanes 0 and {} of a warp have different {}: {:#x} and {:#x}", lane, name, value,
                         get<u64>(w.file + row, lane)));
  return value;
}

// ---- notifications of observers ----

// The ranges of shared memory that a warp's part of a product reads: its rows of A, and a quarter of B. The
// four parts together cover the whole product.
std::vector<async_range> ranges_of(warp& w, const instruction& i, const warpgroup::product& p) {
  const wgmma_form f = form_of(i);
  const u32 rank = rank_in_warpgroup(w);
  std::vector<u32> places;
  const auto note = [&](u32 address, u32, u32) { places.push_back(address); };
  if (!f.has(wgmma_form::a_registers))
    for_chunks(matrix_descriptor(p.a), {rank * rows_of_a_warp, (rank + 1) * rows_of_a_warp}, row_bytes_of_a,
               f.has(wgmma_form::trans_a), note);
  const u32 blocks = f.columns / 8u;
  for_chunks(matrix_descriptor(p.b),
             {blocks * rank / warps_of_a_warpgroup * 8, blocks * (rank + 1) / warps_of_a_warpgroup * 8},
             f.row_bytes_of_b(), f.has(wgmma_form::trans_b), note);
  std::sort(places.begin(), places.end());
  std::vector<async_range> ranges;
  u32 end = 0;
  for (const u32 place : places) {
    if (ranges.empty() || place > end)
      ranges.push_back({w.owner, w.owner->shared.data() + place, 16, access_kind::read});
    else
      ranges.back().bytes += place + 16 - end;
    end = place + 16;
  }
  return ranges;
}

void tell_issued(warp& w, const instruction& i, const warpgroup::product& p, u64 number) {
  if (w.owner->observers.empty()) return;
  async_operation about;
  about.number = number;
  about.by = &w;
  about.issued = &i;
  about.completion = async_completion::wgmma_group;
  about.group = p.group[rank_in_warpgroup(w)];
  about.ranges = ranges_of(w, i, p);
  for (const auto& o : w.owner->observers) o->async_issued(about);
}

// ---- products ----

// The product that the warp issues next. The first of the four warps creates it; the others must match it.
warpgroup::product& next_product(warp& w, const instruction& i, warpgroup& g, u64 a, u64 b,
                                 bool accumulates) {
  const u64 number = g.members[rank_in_warpgroup(w)].issued;
  if (number - g.first == g.products.size()) {
    warpgroup::product p;
    p.at = &i;
    p.a = a;
    p.b = b;
    p.accumulates = accumulates;
    g.products.push_back(p);
  }
  warpgroup::product& p = g.products[number - g.first];
  if (p.at != &i)
    refuse(
        w, i,
        fmt::format(
            "the warps of a warpgroup diverged: warp {} executes this wgmma.mma_async, another warp the one at PTX line {}",
            w.index, p.at->line));
  if (p.a != a || p.b != b || p.accumulates != accumulates)
    refuse(w, i,
           fmt::format("warp {} has other {} than the rest of its warpgroup", w.index,
                       p.accumulates != accumulates ? "values of scale-d" : "matrix descriptors"));
  return p;
}

// Faults unless all that the product reads is in the block's shared memory.
void check_bounds(warp& w, const instruction& i, const warpgroup::product& p) {
  const wgmma_form f = form_of(i);
  const auto check = [&](u32 address, u32, u32) {
    if (address + 16 > w.owner->shared.size())
      raise_access(w, i, 0, access_kind::read, state_space::shared, address, 16);
  };
  if (!f.has(wgmma_form::a_registers))
    for_chunks(matrix_descriptor(p.a), {0, rows_of_a_warp * warps_of_a_warpgroup}, row_bytes_of_a,
               f.has(wgmma_form::trans_a), check);
  for_chunks(matrix_descriptor(p.b), {0, f.columns}, f.row_bytes_of_b(), f.has(wgmma_form::trans_b), check);
}

void reserve(const warp& w, const instruction& i, warpgroup::member& m) {
  const wgmma_form f = form_of(i);
  const u32* const rows = w.owner->launched.kernel.rows.data() + i.rows;
  const u32 count = f.registers();
  for (u32 k = 0; k < count + (f.has(wgmma_form::a_registers) ? 4 : 0); ++k) {
    warpgroup::reservation& r = m.registers[rows[k]];
    r.group = m.group;
    r.destination |= k < count;
  }
}

// True if all products of groups below `group` are computed.
bool computed(const warpgroup& g, u32 rank, u64 group) {
  for (const warpgroup::product& p : g.products)
    if ((p.issued >> rank & 1) != 0 && p.group[rank] < group) return false;
  return true;
}

// The number of the first group that may be incomplete.
u64 groups_to_complete(const warpgroup::member& m, const instruction& i) {
  const auto pending = static_cast<u64>(i.immediate);
  return m.group > pending ? m.group - pending : 0;
}

// Writes the results of the awaited groups to their registers.
void finish_wait(warp& w, const instruction& i, warpgroup::member& m) {
  const u64 groups = groups_to_complete(m, i);
  for (auto at = m.registers.begin(); at != m.registers.end();) {
    const warpgroup::reservation& r = at->second;
    if (r.group >= groups) {
      ++at;
      continue;
    }
    if (r.destination) std::memcpy(w.file + at->first, r.value.data(), sizeof r.value);
    at = m.registers.erase(at);
  }
  for (const auto& o : w.owner->observers)
    o->async_waited(w, i, 0, async_completion::wgmma_group, groups, false);
}

// Computes the products that all four warps have issued, and wakes the warps that waited for them.
void advance(block& b, u32 first_warp, warpgroup& g) {
  bool any = false;
  while (!g.products.empty() && g.products.front().issued == all_members) {
    multiply(b, first_warp, g.products.front());
    g.products.pop_front();
    ++g.first;
    any = true;
  }
  if (!any) return;
  for (u32 r = 0; r < warps_of_a_warpgroup; ++r) {
    warp& w = b.warps[first_warp + r];
    bool finished = false;
    for (u32 k = 0; k < w.parked; ++k) {
      lane_group& f = w.lane_groups[k];
      if (f.reason != wait_reason::matrix) continue;
      const instruction& i = w.waiting_at(f);
      if (!computed(g, r, groups_to_complete(g.members[r], i))) continue;
      if (!std::exchange(finished, true)) finish_wait(w, i, g.members[r]);
      f.reason = wait_reason::none;
    }
  }
}

void issue(warp& w, const instruction& i, u32 lanes) {
  if (!assemble(w, i, lanes)) return;
  const wgmma_form f = form_of(i);
  warpgroup& g = warpgroup_of(w, i);
  const u32 rank = rank_in_warpgroup(w);
  warpgroup::member& m = g.members[rank];
  const u64 a = f.has(wgmma_form::a_registers) ? 0 : uniform(w, i, i.from[0], "matrix descriptors of A");
  const u64 b = uniform(w, i, i.from[1], "matrix descriptors of B");
  const u32 accumulates = condition(w, i, 2);
  if (accumulates != 0 && accumulates != all_lanes)
    refuse(w, i, fmt::format("the lanes of a warp have different values of scale-d: {:#010x}", accumulates));
  warpgroup::product& p = next_product(w, i, g, a, b, accumulates != 0);
  check_bounds(w, i, p);
  p.issued |= 1u << rank;
  p.group[rank] = m.group;
  reserve(w, i, m);
  tell_issued(w, i, p, m.issued);
  ++m.issued;
  advance(*w.owner, first_warp_of(w), g);
}

// Makes a warp's earlier writes to registers and shared memory visible to later products. Here they always
// are.
void fence(warp& w, const instruction& i, u32 lanes) {
  if (assemble(w, i, lanes)) warpgroup_of(w, i);
}

void commit_group(warp& w, const instruction& i, u32 lanes) {
  if (!assemble(w, i, lanes)) return;
  ++warpgroup_of(w, i).members[rank_in_warpgroup(w)].group;
}

void wait_group(warp& w, const instruction& i, u32 lanes) {
  if (!assemble(w, i, lanes)) return;
  warpgroup& g = warpgroup_of(w, i);
  const u32 rank = rank_in_warpgroup(w);
  if (computed(g, rank, groups_to_complete(g.members[rank], i))) {
    finish_wait(w, i, g.members[rank]);
    return;
  }
  // Lanes that arrived before the last ones were made ready; they wait too.
  for (u32 k = 0; k < w.parked; ++k)
    if (lane_group& f = w.lane_groups[k]; f.reason == wait_reason::none && f.pc == w.pc) {
      f.reason = wait_reason::matrix;
      f.key = first_warp_of(w);
    }
  w.wait(w.active, wait_reason::matrix, first_warp_of(w));
}

}  // namespace

warpgroup& warpgroup_of(warp& w, const instruction& i) {
  if (w.matrices == nullptr) {
    block& b = *w.owner;
    const u32 first = first_warp_of(w);
    if (first + warps_of_a_warpgroup > b.warps.size())
      refuse(
          w, i,
          fmt::format(
              "wgmma needs a warpgroup of four warps, the first of which has a number that is a multiple of 4; warp {} is in none, the block has {} warps",
              w.index, b.warps.size()));
    const auto group = std::make_shared<warpgroup>();
    for (u32 r = 0; r < warps_of_a_warpgroup; ++r) b.warps[first + r].matrices = group;
  }
  return *w.matrices;
}

handler wgmma_handler(const instruction& i) {
  switch (i.op) {
    case operation::wgmma_mma: return &issue;
    case operation::wgmma_fence: return &fence;
    case operation::wgmma_commit: return &commit_group;
    case operation::wgmma_wait: return &wait_group;
    default: return nullptr;
  }
}

}  // namespace kaio::emulator
