#include "emulator/machine/mbarrier.hpp"

#include "emulator/machine/block.hpp"
#include "emulator/machine/lanes.hpp"
#include "emulator/machine/raise_fault.hpp"

#include <fmt/format.h>

#include <cstring>
#include <utility>

namespace kaio::emulator {
namespace {

constexpr unsigned pending_bit = 20, transactions_bit = 40, phase_bit = 61;
constexpr s64 transactions_bias = s64{1} << 20;

// Lanes that wait at an mbarrier continue without success, as after their time limit: their phase is gone.
void end_waits(block& home, u32 offset) {
  for (warp& w : home.warps)
    for (u32 k = 0; k < w.parked; ++k) {
      lane_group& f = w.lane_groups[k];
      if (f.reason != wait_reason::phase || f.key != offset) continue;
      f.reason = wait_reason::none;
      w.limit = 0;
      put_mask(w, w.waiting_at(f).to[0], 0, f.lanes);
    }
}

}  // namespace

u64 mbarrier_state::encoded() const {
  return u64{expected} | u64{pending} << pending_bit |
         static_cast<u64>(transactions + transactions_bias) << transactions_bit | phase << phase_bit;
}

void mbarriers::refuse(const performer& p, std::string detail) const {
  fault_report report;
  report.kind = fault_kind::mbarrier;
  report.detail = std::move(detail);
  raise_fault(*p.by, *p.executed, p.lane, std::move(report));
}

std::string mbarriers::name(u32 offset) const {
  std::string result = fmt::format("the mbarrier at shared address {:#x}", offset);
  for (const layout& v : home_.launched.kernel.shared) {
    if (offset < v.offset || offset - v.offset >= v.bytes) continue;
    result += offset == v.offset ? fmt::format(" ('{}')", v.name)
                                 : fmt::format(" ('{}' + {})", v.name, offset - v.offset);
  }
  return result;
}

mbarrier_state& mbarriers::find(const performer& p, u32 offset) {
  const auto found = states_.find(offset);
  if (found == states_.end())
    refuse(
        p,
        fmt::format(
            "a thread uses {}, which is not initialised: execute mbarrier.init first, and a barrier between it and the threads that use it",
            name(offset)));
  u64 word;
  std::memcpy(&word, home_.shared.data() + offset, sizeof word);
  if (word != found->second.encoded())
    refuse(p, fmt::format(
                  "a thread uses {}, whose bytes were overwritten by other writes since its initialisation",
                  name(offset)));
  return found->second;
}

void mbarriers::store(u32 offset, const mbarrier_state& state) {
  const u64 word = state.encoded();
  std::memcpy(home_.shared.data() + offset, &word, sizeof word);
  ++home_.changes;
}

// Ends a complete phase: its waiting lanes continue with the outcome `true`.
void mbarriers::settle(u32 offset, mbarrier_state& state) {
  if (state.pending != 0 || state.transactions != 0) {
    store(offset, state);
    return;
  }
  const u64 completed = state.phase++;
  state.pending = state.expected;
  store(offset, state);
  for (const auto& o : home_.observers) o->phase_completed(home_, offset, completed);
  for (warp& w : home_.warps)
    for (u32 k = 0; k < w.parked; ++k) {
      lane_group& f = w.lane_groups[k];
      if (f.reason != wait_reason::phase || f.key != offset) continue;
      f.reason = wait_reason::none;
      w.limit = 0;
      const instruction& i = w.waiting_at(f);
      put_mask(w, i.to[0], all_lanes, f.lanes);
      for (const auto& o : home_.observers) o->phase_seen(w, i, f.lanes, home_, offset, completed);
    }
}

void mbarriers::initialize(const performer& p, u32 offset, u32 count) {
  if (count == 0 || count > most_arrivals)
    refuse(p, fmt::format("{} is initialised with {} expected arrivals; it takes 1 to {}", name(offset),
                          count, most_arrivals));
  const auto gone = [&](u32 at) {
    for (const auto& o : p.by->owner->observers) o->phase_invalidated(*p.by, *p.executed, p.lane, home_, at);
  };
  if (const auto found = states_.find(offset); found != states_.end()) {
    u64 word;
    std::memcpy(&word, home_.shared.data() + offset, sizeof word);
    if (word == found->second.encoded())
      end_waits(home_, offset);
    else
      gone(offset);  // other writes have ended its life
  }
  for (u32 k = 1; k < mbarrier_bytes; ++k)
    for (const u32 at : {offset + k, offset - k})
      if (states_.erase(at) != 0) gone(at);
  const mbarrier_state state{.expected = count, .pending = count};
  states_[offset] = state;
  store(offset, state);
  for (const auto& o : p.by->owner->observers)
    o->phase_initialized(*p.by, *p.executed, p.lane, home_, offset);
}

void mbarriers::invalidate(const performer& p, u32 offset) {
  find(p, offset);
  for (const warp& w : home_.warps)
    for (u32 k = 0; k < w.parked; ++k)
      if (w.lane_groups[k].reason == wait_reason::phase && w.lane_groups[k].key == offset)
        refuse(p, fmt::format("a thread invalidates {} while others wait for its phase", name(offset)));
  states_.erase(offset);
  std::memset(home_.shared.data() + offset, 0xd5, mbarrier_bytes);
  ++home_.changes;
  for (const auto& o : p.by->owner->observers)
    o->phase_invalidated(*p.by, *p.executed, p.lane, home_, offset);
}

u64 mbarriers::arrive(const performer& p, u32 offset, const mbarrier_arrival& arrival) {
  if (arrival.count == 0 || arrival.count > most_arrivals)
    refuse(p, fmt::format("a thread arrives at {} with the count {}; it takes 1 to {}", name(offset),
                          arrival.count, most_arrivals));
  if (arrival.expected_bytes != 0) expect_bytes(p, offset, arrival.expected_bytes);
  mbarrier_state& state = find(p, offset);
  const u64 before = state.encoded();
  for (const auto& o : p.by->owner->observers)
    o->phase_arrived(*p.by, *p.executed, p.lane, home_, offset, state.phase);
  if (arrival.count > state.pending)
    refuse(
        p,
        fmt::format(
            "a thread arrives at {} with the count {}; phase {} expects {} arrivals and only {} of them are still to come",
            name(offset), arrival.count, state.phase, state.expected, state.pending));
  if (arrival.no_complete && arrival.count == state.pending)
    refuse(p, fmt::format("an arrival with .noComplete is the last one that phase {} of {} expects",
                          state.phase, name(offset)));
  state.pending -= arrival.count;
  if (arrival.drops) state.expected -= arrival.count;
  settle(offset, state);
  return before;
}

void mbarriers::expect_bytes(const performer& p, u32 offset, u32 bytes) {
  mbarrier_state& state = find(p, offset);
  if (bytes > most_transaction_bytes || state.transactions + bytes > s64{most_transaction_bytes})
    refuse(p,
           fmt::format("phase {} of {} expects {} bytes already, and a thread adds {}; the sum is at most {}",
                       state.phase, name(offset), state.transactions, bytes, most_transaction_bytes));
  state.transactions += bytes;
  settle(offset, state);
}

void mbarriers::complete_bytes(const performer& p, u32 offset, u32 bytes) {
  mbarrier_state& state = find(p, offset);
  if (bytes > most_transaction_bytes || state.transactions - bytes < -s64{most_transaction_bytes})
    refuse(p,
           fmt::format("{} bytes arrive at phase {} of {}, which expects {}; it counts at most {} too many",
                       bytes, state.phase, name(offset), state.transactions, most_transaction_bytes));
  state.transactions -= bytes;
  settle(offset, state);
}

void mbarriers::add_pending(const performer& p, u32 offset) {
  mbarrier_state& state = find(p, offset);
  if (state.pending == most_arrivals)
    refuse(p, fmt::format("phase {} of {} has more than {} pending arrivals", state.phase, name(offset),
                          most_arrivals));
  ++state.pending;
  store(offset, state);
}

bool mbarriers::is_complete(const performer& p, u32 offset, u64 token, u64& phase) {
  const mbarrier_state& state = find(p, offset);
  const u64 behind = (state.phase - (token >> phase_bit)) & 7;
  if (behind > 1)
    refuse(
        p,
        fmt::format(
            "a thread waits at {} with the state of a phase that is neither the present one, {}, nor the one before",
            name(offset), state.phase));
  phase = state.phase - behind;
  return behind == 1;
}

bool mbarriers::has_parity_completed(const performer& p, u32 offset, u32 parity, u64& phase) {
  const mbarrier_state& state = find(p, offset);
  if (parity > 1)
    refuse(p,
           fmt::format("a thread waits at {} with the phase parity {}; it is 0 or 1", name(offset), parity));
  const bool complete = (state.phase & 1) != parity;
  phase = state.phase - (complete ? 1 : 0);
  return complete;
}

std::string mbarriers::describe(u32 offset) const {
  const auto found = states_.find(offset);
  if (found == states_.end()) return fmt::format("a phase of {}", name(offset));
  const mbarrier_state& s = found->second;
  std::string missing = fmt::format("{} of {} arrivals have come", s.expected - s.pending, s.expected);
  if (s.pending > s.expected) missing = fmt::format("{} arrivals are to come", s.pending);
  if (s.transactions > 0) missing += fmt::format(", {} expected bytes were not written", s.transactions);
  if (s.transactions < 0)
    missing += fmt::format(", {} bytes more than expected were written", -s.transactions);
  return fmt::format("phase {} of {} ({})", s.phase, name(offset), missing);
}

}  // namespace kaio::emulator
