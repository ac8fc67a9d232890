#include "emulator/sanitizer/checks/registers.hpp"

#include "emulator/barrier/members.hpp"
#include "emulator/machine/lanes.hpp"
#include "emulator/machine/raise_fault.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace kaio::emulator::sanitizing {
namespace {

// The lanes that store into their own local memory.
u32 into_local(const warp& w, const instruction& i, u32 mask) {
  if (i.space == state_space::local) return mask;
  u32 lanes = 0;
  if (i.space == state_space::generic && i.from_bytes == 8)
    for_lanes(mask, [&](unsigned lane) {
      const u64 address = get<u64>(w.file + i.from[0], lane) + static_cast<u64>(i.immediate);
      if (address - local_window < window_bytes) lanes |= 1u << lane;
    });
  return lanes;
}

}  // namespace

register_check::register_check(watched_block& b)
    : grid_(b.grid), block_(b), register_count_(b.of.launched.kernel.register_rows.size()) {
  registers_.resize(register_count_ * b.warps);
}

void register_check::start() {
  std::fill(registers_.begin(), registers_.end(), 0u);
  parts_.clear();
  stores_undefined_ = false;
}

void register_check::loaded_undefined(const warp& w, const instruction& i, const u32 (&lanes)[8],
                                      const u32 (&parts)[8]) {
  u32* const defined = registers_of(w);
  for (u32 e = 0; e < i.count; ++e) {
    const u32 reg = grid_.uses.register_at(i.to[e]);
    if (reg == no_register) continue;
    defined[reg] &= ~lanes[e];
    if (parts[e] == 0) continue;
    if (parts_.empty()) parts_.resize(registers_.size());
    parts_of(w)[reg] |= parts[e];
  }
}

// Checks uses and copies of numbers with some unwritten bytes.
void register_check::check_parts(warp& w, const instruction& i, const usage& u, u32 mask) {
  const u32* const reads = block_.of.launched.kernel.uses.data() + i.uses;
  const u32* const writes = reads + i.reads;
  u32* const parts = parts_of(w);
  u32 copied = 0;
  for (u32 k = 0; k < i.reads; ++k) {
    const u32 lanes = parts[reads[k]] & mask;
    if (lanes == 0) continue;
    if (i.op == operation::mov) {
      copied |= lanes;
    } else if (u.how == use::load || (u.how == use::all && i.op != operation::cvt)) {
      parts[reads[k]] &= ~lanes;
      report(w, i, reads[k], lanes, u.how == use::load ? "in its address" : "", "was only written in part");
    }
  }
  for (u32 k = 0; k < i.writes; ++k) parts[writes[k]] = (parts[writes[k]] & ~mask) | copied;
}

void register_check::before(warp& w, const instruction& i, u32 mask) {
  const usage& u = grid_.uses.of(static_cast<u32>(&i - w.code));
  const std::vector<u32>& numbers = block_.of.launched.kernel.uses;
  u32* const defined = registers_of(w);
  if (u.guard != no_register && (w.active & ~defined[u.guard]) != 0)
    report(w, i, u.guard, w.active & ~defined[u.guard], "as its guard");
  if (mask == 0) return;
  if (!parts_.empty()) check_parts(w, i, u, mask);
  const u32* const reads = numbers.data() + i.uses;
  const u32* const writes = reads + i.reads;
  const auto need = [&](u32 row, std::string_view as) {
    const u32 reg = grid_.uses.register_at(row);
    if (reg != no_register && (mask & ~defined[reg]) != 0) report(w, i, reg, mask & ~defined[reg], as);
  };
  u32 result = mask;  // lanes whose results are values
  u32 packed = 0;     // lanes whose results have some unwritten bytes
  switch (u.how) {
    case use::all:
    case use::load:
      for (u32 k = 0; k < i.reads; ++k)
        if (const u32 missing = mask & ~defined[reads[k]]; missing != 0)
          report(w, i, reads[k], missing, u.how == use::load ? "in its address" : "");
      break;
    case use::merge: {
      if (i.reads == 0) break;
      u32 some = 0;
      u32 every = all_lanes;
      u32 sources = 0;
      for (u32 k = 0; k < i.reads; ++k) {
        if (reads[k] == u.guard) continue;
        some |= defined[reads[k]];
        every &= defined[reads[k]];
        ++sources;
      }
      // `x xor x` is always a value. A constant operand does not make an unwritten register one.
      if (sources != 0 && !(i.op == operation::xor_ && i.from[0] == i.from[1])) result = mask & some;
      // mov.b32 %r, {%h0, %h1}: a number of which a part was never written.
      if (i.op == operation::pack) packed = result & ~every;
      break;
    }
    case use::select: {
      need(i.from[2], "as its condition");
      const u32 first = condition(w, i, 2);
      const auto chosen = [&](u32 row) {
        const u32 reg = grid_.uses.register_at(row);
        return reg == no_register ? all_lanes : defined[reg];
      };
      result = mask & ((chosen(i.from[0]) & first) | (chosen(i.from[1]) & ~first));
      break;
    }
    case use::shuffle: {
      need(i.from[1], "as the lane to read from");
      need(i.from[2], "as its clamp");
      need(i.from[4], "as its member mask");
      const u32 reg = grid_.uses.register_at(i.from[0]);
      result = shuffled(w, i, mask, reg == no_register ? all_lanes : defined[reg]);
      break;
    }
    case use::store: {
      if (i.from_bytes != 0) need(i.from[0], "in its address");
      u32 whole = mask;
      stores_undefined_ = false;
      for (unsigned element = 0; element < i.count; ++element) {
        const u32 reg = grid_.uses.register_at(i.to[element]);
        undefined_elements_[element] = reg == no_register ? 0 : mask & ~defined[reg];
        whole &= undefined_elements_[element];
        stores_undefined_ = stores_undefined_ || undefined_elements_[element] != 0;
      }
      // Some elements of a vector may be padding, and a compiler copies structs with padding on its stack.
      if (whole != 0) whole &= ~into_local(w, i, whole);
      if (whole != 0) report(w, i, grid_.uses.register_at(i.to[0]), whole, "as the value to store");
      break;
    }
    case use::call: {
      if (i.op == operation::call || i.op == operation::ret)
        grid_.uses.for_handed_over(block_.of.launched.kernel, [&](u32 reg) { defined[reg] |= mask; });
      break;
    }
    case use::ignore: break;
  }
  for (u32 k = 0; k < i.writes; ++k) defined[writes[k]] = (defined[writes[k]] & ~mask) | result;
  if (packed == 0) return;
  if (parts_.empty()) parts_.resize(registers_.size());
  for (u32 k = 0; k < i.writes; ++k) parts_of(w)[writes[k]] |= packed;
}

// The lanes whose shuffle reads a value. Lanes yet to arrive count as bringing one. An inactive lane's value
// is none, but it is accepted: reductions over a part of a warp compute with it and drop the result.
u32 register_check::shuffled(const warp& w, const instruction& i, u32 mask, u32 defined) const {
  u32 result = 0;
  for_lanes(mask, [&](unsigned lane) {
    const u32 from = 1u << source_of_shuffle(w, i, lane).lane;
    if ((from & mask) == 0 || (from & defined) != 0) result |= 1u << lane;
  });
  return result;
}

void register_check::report(warp& w, const instruction& i, u32 reg, u32 lanes, std::string_view as,
                            std::string_view what) {
  if (!grid_.reports.wants(check::uninitialised)) return;
  const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
  fault_report r;
  r.kind = fault_kind::uninitialised;
  identify(w, i, lane, r);
  const std::string& name = block_.of.launched.kernel.register_names[reg];
  const int count = std::popcount(lanes);
  r.detail = fmt::format("{} {} is used{}{} but {} (by {} of the {} lanes)",
                         grid_.say("a value in register", "register"), name, as.empty() ? "" : " ", as, what,
                         count, std::popcount(w.active));
  r.advice = fmt::format(
      "give {} a value on every path that leads here; a copy of an unwritten value, for example from uninitialised local memory, counts as unwritten",
      grid_.say("the val or var", name));
  registers_of(w)[reg] |= lanes;  // report once
  grid_.reports.report(check::uninitialised, std::move(r));
}

}  // namespace kaio::emulator::sanitizing
