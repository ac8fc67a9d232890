#include "emulator/machine/standstill.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>
#include <utility>

namespace kaio::emulator {
namespace {

constexpr unsigned quiet_rounds = 8;     // between two comparisons of states
constexpr unsigned unfair_rounds = 128;  // the same, where a round need not give every cluster a turn
constexpr std::size_t blocks_listed = 8;
constexpr unsigned warps_listed = 4;

struct mixer {
  u64 state = 0x9e3779b97f4a7c15ull;
  void add(u64 value) {
    state = (state ^ value) * 0xff51afd7ed558ccdull;
    state ^= state >> 32;
  }
};

[[noreturn]] void report(const std::deque<std::unique_ptr<cluster>>& paused) {
  std::string who;
  for (std::size_t k = 0; k < std::min(blocks_listed, paused.size()); ++k) who += paused[k]->whereabouts();
  if (paused.size() > blocks_listed) who += "\n  and more blocks";
  paused.front()->report_standstill(who);
}

// What some lanes of a warp do, such as "waits at PTX line 7".
std::string occupation(const warp& w, u32 lanes) {
  if ((lanes & w.live) == 0) return "has ended";
  for (u32 k = 0; k < w.parked; ++k) {
    const fragment& f = w.fragments[k];
    if ((f.lanes & lanes) == 0 || f.reason == wait_reason::none) continue;
    return fmt::format("waits at PTX line {}", w.waiting_at(f).line);
  }
  return "runs";
}

// Where a warp is that has not ended.
const instruction& place_of(const warp& w) {
  const u32 pc = w.active != 0 ? w.pc : w.fragments[0].pc;
  return w.code[pc == 0 ? 0 : pc - 1];
}

}  // namespace

std::string missing_at(const block& b, const warp& w, const fragment& f) {
  if (f.reason == wait_reason::members) {
    const u32 missing = f.key & w.existing & ~f.lanes;
    return missing == 0 ? std::string{}
                        : fmt::format("; missing: lanes {:#010x}, of which the first {}", missing,
                                      occupation(w, 1u << static_cast<unsigned>(std::countr_zero(missing))));
  }
  if (f.reason != wait_reason::barrier) return {};
  const barrier& at = b.barriers[f.key];
  std::string result;
  unsigned listed = 0;
  for (const warp& other : b.warps) {
    const u32 missing = other.existing & ~at.arrived[other.index];
    if (missing == 0) continue;
    if (++listed > warps_listed) return result + ", ...";
    result += listed == 1 ? "; missing: " : ", ";
    result += missing == other.existing ? fmt::format("warp {}", other.index)
                                        : fmt::format("warp {} lanes {:#010x}", other.index, missing);
    result += fmt::format(" ({})", occupation(other, missing));
  }
  return result;
}

standstill_watch::standstill_watch(const grid& g)
    : rounds_(g.order.kind == schedule_kind::random || g.order.kind == schedule_kind::starve ? unfair_rounds
                                                                                             : quiet_rounds),
      reads_clock_(std::any_of(g.kernel.code.begin(), g.kernel.code.end(),
                               [](const instruction& i) { return i.op == operation::read_special; })) {}

void standstill_watch::reset() {
  turns_ = quiet_ = 0;
  distance_ = 0;
  power_ = 1;
  known_ = false;
}

void standstill_watch::turn(const std::deque<std::unique_ptr<cluster>>& paused) {
  if (reads_clock_ || ++turns_ < paused.size()) return;
  turns_ = 0;
  u64 changes = 0;
  for (const auto& b : paused) changes += b->changes();
  if (changes != changes_) {
    changes_ = changes;
    reset();
    return;
  }
  if (++quiet_ % rounds_ != 0) return;
  u64 state = 0;
  for (const auto& b : paused) state = state * 0x9e3779b97f4a7c15ull + b->fingerprint();
  if (known_ && state == state_) report(paused);
  if (known_ && ++distance_ < power_) return;
  state_ = state;
  known_ = true;
  power_ *= 2;
  distance_ = 0;
}

u64 block::fingerprint() const {
  mixer m;
  for (std::size_t at = 0; at < file_stride_ * warps.size(); at += sizeof(u64)) {
    u64 word;
    std::memcpy(&word, files_.get() + at, sizeof word);
    m.add(word);
  }
  for (const warp& w : warps) {
    m.add(u64{w.live} << 32 | w.active);
    m.add(u64{w.pc} << 32 | w.limit);
    m.add(u64{w.parked} << 1 | (w.rotate ? 1 : 0));
    m.add(u64{w.cluster_arrived} << 32 | w.cluster_owed);
    for (const call_stack& c : w.calls)
      for (const call_stack::frame& f : c.frames) m.add(f.base << 32 | f.return_pc);
    for (u32 k = 0; k < w.parked; ++k) {
      const fragment& f = w.fragments[k];
      m.add(u64{f.lanes} << 32 | f.pc);
      m.add(u64{f.key} << 8 | static_cast<u64>(f.reason));
    }
  }
  for (const barrier& b : barriers) {
    if (!b.open) continue;
    m.add(u64{b.arrivals} << 32 | b.true_count);
    for (const u32 lanes : b.arrived) m.add(lanes);
  }
  return m.state;
}

std::string block::whereabouts() const {
  std::string result;
  unsigned listed = 0;
  for (const warp& w : warps) {
    if (w.live == 0) continue;
    if (++listed > warps_listed) {
      result += ", ...";
      break;
    }
    const instruction& i = place_of(w);
    result +=
        fmt::format("{} warp {} at PTX line {}: {}", listed == 1 ? "" : ",", w.index, i.line, text_of(i));
  }
  return fmt::format("\n  block ({}, {}, {}):{}", index.x, index.y, index.z, result);
}

void block::report_standstill(const std::string& others) const {
  fault_report report;
  report.kind = fault_kind::deadlock;
  report.detail = "livelock: threads wait for ever for a value in memory that no thread writes:" + others;
  for (const warp& w : warps) {
    if (w.live == 0) continue;
    raise(w, place_of(w), static_cast<unsigned>(std::countr_zero(w.live)), std::move(report));
  }
  throw fault(std::move(report));
}

}  // namespace kaio::emulator
