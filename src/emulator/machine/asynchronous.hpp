#pragma once
// Work that runs concurrently with the warps of a cluster, such as copies. A task is done as late as the
// program allows: when its thread waits for it, when no thread can move, or after every warp has had a turn.
// A cp.async is done when its thread waits, or at the end. A random schedule may do both earlier. So a
// missing wait shows as old data, and an early write to a source as new data.
//
//   asynchronous& async = w.owner->group.async;
//   async.issue(std::make_unique<bulk_copy>(...));   // its mbarrier or its group signals the end
//   async.commit_bulk(w, lanes);
//   async.wait_bulk(w, i, lanes, 0, false);          // all committed groups are complete now

#include "emulator/machine/mbarrier.hpp"
#include "emulator/machine/observer.hpp"
#include "emulator/program/scalar.hpp"

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

namespace kaio::emulator {

struct block;
struct grid;
struct random_source;

// An issued operation, with the steps that carry it out.
class async_task {
 public:
  async_task() = default;
  async_task(const async_task&) = delete;
  async_task& operator=(const async_task&) = delete;
  virtual ~async_task() = default;

  virtual void read() {}     // reads its sources
  virtual void write() = 0;  // writes what it read
  virtual void signal() {}   // notifies the waiting threads

  performer issuer() const { return {about.by, about.issued, about.lane}; }

  async_operation about;
  bool has_read = false;
  u64 due = 0;
};

// One cp.async instruction of the lanes of a warp.
struct thread_copy {
  const instruction* issued = nullptr;
  u32 lanes = 0;   // whose copies are not done yet
  u64 number = 0;  // operation of lane 0; the other lanes follow
  u32 bytes = 0;
  std::array<u64, warp_lanes> group;
  std::array<std::byte*, warp_lanes> to;
  std::array<const std::byte*, warp_lanes> from;
  std::array<u8, warp_lanes> read;  // bytes per lane; the rest is zero
};

class asynchronous {
 public:
  // `blocks`: of one cluster, possibly not made yet. `random`: the source of its random schedule.
  asynchronous(const grid& launched, const std::vector<std::unique_ptr<block>>& blocks,
               random_source& random);

  // Forgets everything: the cluster begins anew.
  void start();
  bool idle() const { return tasks_.empty() && outstanding_copies_ == 0; }
  // Does the work that is due after a warp's turn.
  void pass_time();
  // For when no thread can move: does one task after the other until one can. False if there was none to do.
  bool complete_some();
  // Does all remaining work.
  void drain();
  // Differs from one turn to the next while any task is left.
  u64 fingerprint() const { return tasks_.empty() ? 0 : now_; }

  // Fills in the operation's number, and notifies the observers.
  void issue(std::unique_ptr<async_task> task);

  // ---- bulk groups of a thread ----
  u64 open_bulk_group(const warp& w, unsigned lane);
  void commit_bulk(const warp& w, u32 lanes);
  // On return all groups of these lanes except the last `pending` are complete, or, if `read`, have read.
  void wait_bulk(warp& w, const instruction& i, u32 lanes, u32 pending, bool read);

  // ---- cp.async ----
  // Adds the copy of some lanes of the warp; fills in its number and its groups.
  void issue_copy(warp& w, const thread_copy& copy);
  void commit_copies(const warp& w, u32 lanes);
  void wait_copies(warp& w, const instruction& i, u32 lanes, u32 pending);
  void wait_all_copies(warp& w, const instruction& i, u32 lanes);
  // Completes the copies of a lane that were issued before the operation with this number.
  void complete_copies(warp& w, unsigned lane, u64 before);

  mbarriers& phases(const block& home);

 private:
  struct warp_state {
    std::array<u64, warp_lanes> bulk_groups{}, copy_groups{};  // committed
    std::vector<thread_copy> copies;
  };

  warp_state& state_of(const warp& w);
  void finish(std::size_t index);
  void finish_read(async_task& task);
  std::size_t next_task();
  void complete(warp& w, thread_copy& copy, u32 lanes);
  void forget_done(warp_state& s);
  async_operation describe(warp& w, const thread_copy& copy, unsigned lane) const;

  const grid& launched_;
  const std::vector<std::unique_ptr<block>>& blocks_;  // by rank
  random_source& random_;
  std::vector<std::unique_ptr<async_task>> tasks_;  // in the order of issue
  std::vector<std::vector<warp_state>> warps_;      // by rank and index
  std::vector<mbarriers> phases_;                   // by rank
  std::size_t outstanding_copies_ = 0;              // instructions
  u64 issued_ = 0, now_ = 0;
};

}  // namespace kaio::emulator
