#include "emulator/machine/asynchronous.hpp"

#include "emulator/machine/block.hpp"
#include "emulator/machine/lanes.hpp"
#include "emulator/machine/raise_fault.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

namespace kaio::emulator {
namespace {

// A random schedule completes some outstanding cp.async in one of this many turns.
constexpr u64 early_copies = 8;

}  // namespace

asynchronous::asynchronous(const grid& launched, const std::vector<std::unique_ptr<block>>& blocks,
                           random_source& random)
    : launched_(launched), blocks_(blocks), random_(random) {}

void asynchronous::start() {
  tasks_.clear();
  warps_.clear();
  outstanding_copies_ = 0;
  issued_ = now_ = 0;
  for (mbarriers& p : phases_) p.start();
}

mbarriers& asynchronous::phases(const block& home) {
  while (phases_.size() < blocks_.size()) phases_.emplace_back(*blocks_[phases_.size()]);
  return phases_[home.rank];
}

asynchronous::warp_state& asynchronous::state_of(const warp& w) {
  if (warps_.empty()) {
    warps_.resize(blocks_.size());
    for (auto& of_block : warps_) of_block.resize(launched_.warps());
  }
  return warps_[w.owner->rank][w.index];
}

// ---- tasks ----

void asynchronous::issue(std::unique_ptr<async_task> task) {
  const u64 turns = u64{launched_.warps()} * blocks_.size() + 1;
  const bool at_random = launched_.order.kind == schedule_kind::random;
  task->about.number = issued_++;
  task->due = now_ + (at_random ? random_.below(2 * turns) : turns);
  for (const auto& o : task->about.by->owner->observers) o->async_issued(task->about);
  tasks_.push_back(std::move(task));
}

void asynchronous::finish_read(async_task& task) {
  if (std::exchange(task.has_read, true)) return;
  task.read();
  for (const auto& o : task.about.by->owner->observers) o->async_read(task.about);
}

void asynchronous::finish(std::size_t index) {
  const std::unique_ptr<async_task> task = std::move(tasks_[index]);
  tasks_.erase(tasks_.begin() + static_cast<std::ptrdiff_t>(index));
  finish_read(*task);
  if (const async_operation& o = task->about;
      o.barrier != nullptr && o.barrier != o.by->owner && has_ended(*o.barrier))
    raise_ended(*o.by, *o.issued, o.lane, *o.barrier);
  task->write();
  ++task->about.by->owner->changes;
  for (const auto& o : task->about.by->owner->observers) o->async_completed(task->about);
  task->signal();
}

std::size_t asynchronous::next_task() {
  switch (launched_.order.kind) {
    case schedule_kind::random: return random_.below(tasks_.size());
    case schedule_kind::reverse: return tasks_.size() - 1;
    default: return 0;
  }
}

void asynchronous::pass_time() {
  ++now_;
  for (std::size_t k = 0; k < tasks_.size();) {
    if (tasks_[k]->due <= now_)
      finish(k);
    else
      ++k;
  }
  const bool at_random = launched_.order.kind == schedule_kind::random;
  if (outstanding_copies_ == 0 || !at_random || random_.below(early_copies) != 0) return;
  auto& of_block = warps_[random_.below(warps_.size())];
  const u64 index = random_.below(of_block.size());
  warp_state& s = of_block[index];
  if (s.copies.empty()) return;
  thread_copy& copy = s.copies[random_.below(s.copies.size())];
  warp& w = blocks_[static_cast<std::size_t>(&of_block - warps_.data())]->warps[index];
  complete(w, copy, copy.lanes & static_cast<u32>(random_.next()));
  forget_done(s);
}

bool asynchronous::complete_some() {
  if (tasks_.empty()) return false;
  do {
    finish(next_task());
  } while (!tasks_.empty() &&
           std::none_of(blocks_.begin(), blocks_.end(), [](const auto& b) { return is_ready(*b); }));
  return true;
}

void asynchronous::drain() {
  while (!tasks_.empty()) finish(next_task());
  if (outstanding_copies_ == 0) return;
  for (std::size_t rank = 0; rank < warps_.size(); ++rank)
    for (std::size_t index = 0; index < warps_[rank].size(); ++index) {
      warp_state& s = warps_[rank][index];
      for (thread_copy& copy : s.copies) complete(blocks_[rank]->warps[index], copy, copy.lanes);
      forget_done(s);
    }
}

// ---- bulk groups ----

u64 asynchronous::open_bulk_group(const warp& w, unsigned lane) { return state_of(w).bulk_groups[lane]; }

void asynchronous::commit_bulk(const warp& w, u32 lanes) {
  warp_state& s = state_of(w);
  for_lanes(lanes, [&](unsigned lane) { ++s.bulk_groups[lane]; });
}

void asynchronous::wait_bulk(warp& w, const instruction& i, u32 lanes, u32 pending, bool read) {
  const warp_state& s = state_of(w);
  std::array<u64, warp_lanes> done{};
  for_lanes(lanes, [&](unsigned lane) {
    done[lane] = s.bulk_groups[lane] > pending ? s.bulk_groups[lane] - pending : 0;
  });
  for (std::size_t k = 0; k < tasks_.size();) {
    const async_operation& about = tasks_[k]->about;
    const bool waited_for = about.by == &w && about.completion == async_completion::bulk_group &&
                            (lanes >> about.lane & 1) != 0 && about.group < done[about.lane];
    if (waited_for && !read) {
      finish(k);
      continue;
    }
    if (waited_for) finish_read(*tasks_[k]);
    ++k;
  }
  for_lanes(lanes, [&](unsigned lane) {
    for (const auto& o : w.owner->observers)
      o->async_waited(w, i, lane, async_completion::bulk_group, done[lane], read);
  });
}

// ---- cp.async ----

async_operation asynchronous::describe(warp& w, const thread_copy& copy, unsigned lane) const {
  async_operation about;
  about.number = copy.number + lane;
  about.by = &w;
  about.issued = copy.issued;
  about.lane = lane;
  about.completion = async_completion::copy_group;
  about.group = copy.group[lane];
  if (copy.read[lane] != 0)
    about.ranges.push_back(
        {nullptr, const_cast<std::byte*>(copy.from[lane]), copy.read[lane], access_kind::read});
  about.ranges.push_back({w.owner, copy.to[lane], copy.bytes, access_kind::write});
  return about;
}

void asynchronous::issue_copy(warp& w, const thread_copy& issued) {
  warp_state& s = state_of(w);
  thread_copy& copy = s.copies.emplace_back(issued);
  copy.number = issued_;
  copy.group = s.copy_groups;
  issued_ += warp_lanes;
  ++outstanding_copies_;
  for (const auto& o : w.owner->observers)
    for_lanes(copy.lanes, [&](unsigned lane) { o->async_issued(describe(w, copy, lane)); });
}

void asynchronous::complete(warp& w, thread_copy& copy, u32 lanes) {
  if (lanes == 0) return;
  constexpr u32 widest = 16;
  for_lanes(lanes, [&](unsigned lane) {
    if (copy.read[lane] == widest) {
      std::memcpy(copy.to[lane], copy.from[lane], widest);
      return;
    }
    // A copy without a source reads nothing, so its address may be invalid.
    if (copy.read[lane] != 0) std::memcpy(copy.to[lane], copy.from[lane], copy.read[lane]);
    std::memset(copy.to[lane] + copy.read[lane], 0, copy.bytes - copy.read[lane]);
  });
  ++w.owner->changes;
  copy.lanes &= ~lanes;
  for (const auto& o : w.owner->observers)
    for_lanes(lanes, [&](unsigned lane) {
      const async_operation about = describe(w, copy, lane);
      o->async_read(about);
      o->async_completed(about);
    });
}

void asynchronous::forget_done(warp_state& s) {
  outstanding_copies_ -= std::erase_if(s.copies, [](const thread_copy& copy) { return copy.lanes == 0; });
}

void asynchronous::commit_copies(const warp& w, u32 lanes) {
  warp_state& s = state_of(w);
  for_lanes(lanes, [&](unsigned lane) { ++s.copy_groups[lane]; });
}

void asynchronous::wait_copies(warp& w, const instruction& i, u32 lanes, u32 pending) {
  warp_state& s = state_of(w);
  std::array<u64, warp_lanes> done{};
  for_lanes(lanes, [&](unsigned lane) {
    done[lane] = s.copy_groups[lane] > pending ? s.copy_groups[lane] - pending : 0;
  });
  for (thread_copy& copy : s.copies) {
    u32 waited_for = 0;
    for_lanes(copy.lanes & lanes, [&](unsigned lane) {
      if (copy.group[lane] < done[lane]) waited_for |= 1u << lane;
    });
    complete(w, copy, waited_for);
  }
  forget_done(s);
  for (const auto& o : w.owner->observers)
    for_lanes(lanes, [&](unsigned lane) {
      o->async_waited(w, i, lane, async_completion::copy_group, done[lane], false);
    });
}

void asynchronous::wait_all_copies(warp& w, const instruction& i, u32 lanes) {
  warp_state& s = state_of(w);
  for (thread_copy& copy : s.copies) complete(w, copy, copy.lanes & lanes);
  forget_done(s);
  for (const auto& o : w.owner->observers)
    for_lanes(lanes, [&](unsigned lane) {
      o->async_waited(w, i, lane, async_completion::copy_group, std::numeric_limits<u64>::max(), false);
    });
}

void asynchronous::complete_copies(warp& w, unsigned lane, u64 before) {
  warp_state& s = state_of(w);
  for (thread_copy& copy : s.copies)
    if (copy.number < before) complete(w, copy, copy.lanes & 1u << lane);
  forget_done(s);
}

}  // namespace kaio::emulator
