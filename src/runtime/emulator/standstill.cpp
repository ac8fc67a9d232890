#include "runtime/emulator/standstill.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>
#include <utility>

namespace kaio::runtime::emulator {
namespace {

constexpr unsigned quiet_rounds = 8;  // between two comparisons of states
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

// Where a warp stands that has not ended.
const instruction& place_of(const warp& w) {
  const u32 pc = w.active != 0 ? w.pc : w.fragments[0].pc;
  return w.code[pc == 0 ? 0 : pc - 1];
}

}  // namespace

standstill_watch::standstill_watch(const entry& kernel)
    : reads_clock_(std::any_of(kernel.code.begin(), kernel.code.end(),
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
  if (++quiet_ % quiet_rounds != 0) return;
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
  report.detail = "threads wait for ever for a value in memory that nobody writes:" + others;
  for (const warp& w : warps) {
    if (w.live == 0) continue;
    raise(w, place_of(w), static_cast<unsigned>(std::countr_zero(w.live)), std::move(report));
  }
  throw fault(std::move(report));
}

}  // namespace kaio::runtime::emulator
