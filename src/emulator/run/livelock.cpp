#include "emulator/run/livelock.hpp"

#include "emulator/machine/raise_fault.hpp"
#include "emulator/run/fingerprint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

namespace kaio::emulator {
namespace {

constexpr unsigned quiet_rounds = 8;     // between two comparisons of states
constexpr unsigned few_samples = 32;     // a kernel that counts, or reads a clock, may wait for others
constexpr unsigned most_samples = 4096;  // for a proof
constexpr unsigned unfair_rounds = 128;  // for schedules in which a round may skip clusters
constexpr std::size_t blocks_listed = 8;
constexpr unsigned warps_listed = 4;

// The place of a warp that has not ended.
const instruction& address_operand_of(const warp& w) {
  const u32 pc = w.active != 0 ? w.pc : w.lane_groups[0].pc;
  return w.code[pc == 0 ? 0 : pc - 1];
}

// The places of a block's warps, as a line of text.
std::string whereabouts(const block& b) {
  std::string result;
  unsigned listed = 0;
  for (const warp& w : b.warps) {
    if (w.live == 0) continue;
    if (++listed > warps_listed) {
      result += ", ...";
      break;
    }
    const instruction& i = address_operand_of(w);
    result += fmt::format("{} warp {} at PTX line {}: {}", listed == 1 ? "" : ",", w.index, i.line,
                          text_of(b.launched, i));
  }
  return fmt::format("\n  block ({}, {}, {}):{}", b.index.x, b.index.y, b.index.z, result);
}

[[noreturn]] void report(const std::deque<std::unique_ptr<cluster>>& paused) {
  fault_report report;
  report.kind = fault_kind::deadlock;
  report.detail = "livelock: threads wait for ever for a value in memory that no thread writes:";
  for (std::size_t k = 0; k < std::min(blocks_listed, paused.size()); ++k)
    for (const auto& b : paused[k]->blocks) report.detail += whereabouts(*b);
  if (paused.size() > blocks_listed) report.detail += "\n  and more blocks";
  for (const warp& w : paused.front()->blocks.front()->warps) {
    if (w.live == 0) continue;
    raise_fault(w, address_operand_of(w), static_cast<unsigned>(std::countr_zero(w.live)), std::move(report));
  }
  throw fault(std::move(report));
}

}  // namespace

livelock_watch::livelock_watch(const grid& g, memory_wait* wait)
    : wait_(wait),
      samples_(few_samples),
      rounds_(g.order.kind == schedule_kind::random || g.order.kind == schedule_kind::starve ? unfair_rounds
                                                                                             : quiet_rounds),
      reads_clock_(std::any_of(g.kernel.code.begin(), g.kernel.code.end(),
                               [](const instruction& i) { return i.op == operation::read_special; })) {}

void livelock_watch::reset() {
  wrote_ = true;
  forget_states();
}

void livelock_watch::forget_states() {
  turns_ = quiet_ = 0;
  distance_ = 0;
  power_ = 1;
  known_ = false;
}

bool livelock_watch::ask(poll_state state, const std::deque<std::unique_ptr<cluster>>& paused) {
  const poll_answer answer = wait_->wait(state, std::exchange(wrote_, false));
  if (answer == poll_answer::fault) report(paused);
  waits_ = answer == poll_answer::again;
  // Each search for a proof is longer than the one before: the cycle of states may be long.
  if (answer == poll_answer::prove) samples_ = std::min(4 * samples_, most_samples);
  forget_states();
  return true;
}

bool livelock_watch::turn(const std::deque<std::unique_ptr<cluster>>& paused) {
  if ((reads_clock_ && wait_ == nullptr) || ++turns_ < paused.size()) return false;
  turns_ = 0;
  u64 changes = 0;
  for (const auto& b : paused) changes += b->changes();
  if (changes != changes_) {
    changes_ = changes;
    reset();
    return false;
  }
  ++quiet_;
  if (wait_ != nullptr && (waits_ || quiet_ >= samples_ * rounds_))
    return ask(reads_clock_ ? poll_state::timed : poll_state::quiet, paused);
  if (reads_clock_ || quiet_ % rounds_ != 0) return false;
  u64 state = 0;
  for (const auto& b : paused) state = state * 0x9e3779b97f4a7c15ull + fingerprint(*b);
  if (known_ && state == state_) {
    if (wait_ == nullptr) report(paused);
    return ask(poll_state::forever, paused);
  }
  if (known_ && ++distance_ < power_) return false;
  state_ = state;
  known_ = true;
  power_ *= 2;
  distance_ = 0;
  return false;
}

}  // namespace kaio::emulator
