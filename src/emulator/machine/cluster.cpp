#include "emulator/machine/cluster.hpp"

#include "emulator/machine/lanes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

namespace kaio::emulator {

namespace {

constexpr std::size_t most_time_outs = 4096;  // of waits, in which only registers change
constexpr u32 patience = 64;                  // turns after which waits time out though others move

}  // namespace

bool has_ended(const block& b) {
  return std::none_of(b.warps.begin(), b.warps.end(), [](const warp& w) { return w.live != 0; });
}

cluster::cluster(const grid& g) : launched(g), async(*this) {
  const auto count = static_cast<u32>(g.cluster_blocks.count());
  for (u32 rank = 0; rank < count; ++rank) blocks.push_back(std::make_unique<block>(g, *this, rank));
}

void cluster::start(u64 number) {
  const ptx::dim3& c = launched.cluster_blocks;
  const u64 x = launched.blocks.x / c.x, y = launched.blocks.y / c.y;
  const u64 first_x = number % x * c.x, first_y = number / x % y * c.y, first_z = number / x / y * c.z;
  pending.clear();
  async.start();
  timed_out_.clear();
  changes_ = 0;
  turns_ = 0;
  random.state = launched.order.seed ^ (number + 1) * 0x9e3779b97f4a7c15ull;
  for (const auto& b : blocks)
    b->start({static_cast<u32>(first_x + b->rank % c.x), static_cast<u32>(first_y + b->rank / c.x % c.y),
              static_cast<u32>(first_z + b->rank / c.x / c.y)});
}

block_status cluster::run(u64 budget) {
  if (blocks.size() > 1) budget = std::min(budget, u64{4096});
  bool alive = false, moved = false;
  for (const auto& b : blocks) {
    const block_status status = b->run(budget);
    alive = alive || status != block_status::finished;
    moved = moved || status == block_status::paused;
  }
  if (!alive) {
    run_deferred();
    async.drain();
    return block_status::finished;
  }
  if (++turns_ % patience == 0) wake_waiting();
  // One block may have ended or woken another after that one had its turn.
  if (moved || somebody_is_ready() || complete_pending() || time_out()) return block_status::paused;
  std::string who;
  unsigned listed = 0;
  for (const auto& b : blocks) b->list_waits(who, listed);
  if (listed > 16) who += fmt::format("\n  and {} more", listed - 16);
  for (const auto& b : blocks) b->raise_deadlock(who);
  return block_status::blocked;
}

bool cluster::somebody_is_ready() const {
  for (const auto& b : blocks)
    for (const warp& w : b->warps)
      if (w.live != 0 && w.ready()) return true;
  return false;
}

bool cluster::run_deferred() {
  if (pending.empty()) return false;
  for (const auto& operation : std::exchange(pending, {})) operation();
  return true;
}

void cluster::do_what_is_due() {
  if (launched.order.kind != schedule_kind::random || random.below(4) == 0) run_deferred();
  async.pass_time();
}

bool cluster::complete_pending() {
  if (somebody_is_ready()) return false;
  return run_deferred() || async.complete_some();
}

// The waits for a phase of an mbarrier (mbarrier.try_wait) end without success, as after their time limit.
void cluster::wake_waiting() {
  for (const auto& b : blocks)
    for (warp& w : b->warps)
      for (u32 k = 0; k < w.parked; ++k) {
        fragment& f = w.fragments[k];
        if (f.reason != wait_reason::phase) continue;
        f.reason = wait_reason::none;
        w.limit = 0;
        put_mask(w, w.waiting_at(f).to[0], 0, f.lanes);
      }
}

// Nobody can move. Waits that have a time limit end, unless that has been tried in this very state.
bool cluster::time_out() {
  if (changes() != changes_) {
    changes_ = changes();
    timed_out_.clear();
  }
  if (timed_out_.size() >= most_time_outs || !timed_out_.insert(fingerprint()).second) return false;
  wake_waiting();
  return somebody_is_ready();
}

block* cluster::find(block& from, u32 address, u32& offset) const {
  const u32 name = address >> cluster_rank_bit;
  offset = address & cluster_offset_mask;
  if (name == 0) return &from;
  return name <= blocks.size() ? blocks[name - 1].get() : nullptr;
}

block* cluster::find_running(block& from, u32 address, u32& offset) const {
  block* const home = find(from, address, offset);
  return home == nullptr || home == &from || !has_ended(*home) ? home : nullptr;
}

void cluster::raise_ended(const warp& w, const instruction& i, unsigned lane, const block& other,
                          fault_report report) const {
  report.kind = fault_kind::use_after_free;
  report.detail = fmt::format(
      "a thread uses the shared memory of block {} of its cluster, which has ended: let each block wait at a "
      "barrier.cluster at its end, until the others have no more use for its shared memory",
      other.rank);
  w.owner->raise(w, i, lane, std::move(report));
}

// ---- barrier.cluster ----

void cluster::arrive(warp& w, const instruction& i, u32 lanes) {
  if (const u32 twice = lanes & w.cluster_owed; twice != 0) {
    fault_report report;
    report.kind = fault_kind::barrier;
    report.detail = "a thread arrives at barrier.cluster a second time without waiting in between";
    w.owner->raise(w, i, static_cast<unsigned>(std::countr_zero(twice)), std::move(report));
  }
  for (const auto& o : w.owner->observers) o->cluster_arrived(w, i, lanes);
  w.cluster_arrived |= lanes;
  w.cluster_owed |= lanes;
  settle();
}

void cluster::wait(warp& w, const instruction& i, u32 lanes) {
  if (const u32 never = lanes & ~w.cluster_owed; never != 0) {
    fault_report report;
    report.kind = fault_kind::barrier;
    report.detail = "a thread waits at barrier.cluster without having arrived";
    w.owner->raise(w, i, static_cast<unsigned>(std::countr_zero(never)), std::move(report));
  }
  w.cluster_owed &= ~lanes;
  const u32 waiting = lanes & w.cluster_arrived;
  if (waiting != 0) w.wait(waiting, wait_reason::cluster, 0);
}

void cluster::settle() {
  bool somebody = false;
  for (const auto& b : blocks)
    for (const warp& w : b->warps) {
      if ((w.live & ~w.cluster_arrived) != 0) return;
      somebody = somebody || w.cluster_arrived != 0;
    }
  if (!somebody) return;
  for (const auto& b : blocks) {
    for (const auto& o : b->observers) o->cluster_completed(*b);
    for (warp& w : b->warps) {
      w.cluster_arrived = 0;
      w.wake(wait_reason::cluster, 0);
    }
  }
}

// ---- livelock ----

u64 cluster::changes() const {
  u64 total = 0;
  for (const auto& b : blocks) total += b->changes;
  return total;
}

u64 cluster::fingerprint() const {
  u64 state = async.fingerprint();
  for (const auto& b : blocks) state = state * 0x9e3779b97f4a7c15ull + b->fingerprint();
  return state;
}

std::string cluster::whereabouts() const {
  std::string result;
  for (const auto& b : blocks) result += b->whereabouts();
  return result;
}

void cluster::report_standstill(const std::string& others) const {
  blocks.front()->report_standstill(others);
}

}  // namespace kaio::emulator
