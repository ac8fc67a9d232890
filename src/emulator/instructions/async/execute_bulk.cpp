// Bulk copies and reductions, and st.async and red.async, which move single values in this way too.

#include "emulator/instructions/async/async_address.hpp"
#include "emulator/instructions/async/execute_async.hpp"
#include "emulator/instructions/memory/reduction.hpp"
#include "emulator/machine/block.hpp"
#include "emulator/machine/cluster.hpp"
#include "emulator/machine/lanes.hpp"
#include "emulator/machine/raise_fault.hpp"

#include <fmt/format.h>

#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace kaio::emulator {
namespace {

constexpr u32 bulk_alignment = 16;

[[noreturn]] void refuse(warp& w, const instruction& i, unsigned lane, std::string detail) {
  fault_report report;
  report.kind = fault_kind::bulk_copy;
  report.detail = std::move(detail);
  raise_fault(w, i, lane, std::move(report));
}

// Copies or combines bytes from one place to another. `payload` holds the bytes between the read and the
// write.
class bulk_task : public async_task {
 public:
  bulk_task(warp& w, const instruction& i, unsigned lane, const memory_location& to, u32 bytes, reduction r)
      : to_(to), combine_(r) {
    about.by = &w;
    about.issued = &i;
    about.lane = lane;
    payload_.resize(bytes);
    about.ranges.push_back({to.home, to.at, bytes, r == nullptr ? access_kind::write : access_kind::atomic});
  }

  // The end shows in one of the lane's groups, or in a phase of an mbarrier.
  void complete_group() {
    about.completion = async_completion::bulk_group;
    about.group = about.by->owner->group.async.open_bulk_group(*about.by, about.lane);
  }
  void complete_phase(const memory_location& barrier) {
    about.completion = async_completion::phase;
    about.barrier = barrier.home;
    about.barrier_offset = static_cast<u32>(barrier.address);
  }

  void take_from(const memory_location& from) {
    from_ = from.at;
    about.ranges.push_back({from.home, from.at, payload_.size(), access_kind::read});
  }
  // The bytes to write are known already.
  std::vector<std::byte>& payload() { return payload_; }

  void read() override {
    if (from_ != nullptr && !payload_.empty()) std::memcpy(payload_.data(), from_, payload_.size());
  }
  void write() override {
    if (payload_.empty()) return;
    if (combine_ != nullptr)
      combine_(to_.at, payload_.data(), payload_.size());
    else
      std::memcpy(to_.at, payload_.data(), payload_.size());
    if (to_.home != nullptr) ++to_.home->changes;
  }
  void signal() override {
    if (about.barrier == nullptr) return;
    about.by->owner->group.async.phases(*about.barrier)
        .complete_bytes(issuer(), about.barrier_offset, static_cast<u32>(payload_.size()));
  }

 private:
  memory_location to_;
  const std::byte* from_ = nullptr;
  reduction combine_;
  std::vector<std::byte> payload_;
};

u32 byte_count(warp& w, const instruction& i, unsigned lane) {
  const u32 bytes = get<u32>(w.file + i.from[1], lane);
  if (bytes % bulk_alignment != 0)
    refuse(w, i, lane, fmt::format("a bulk copy of {} bytes; it moves a multiple of 16", bytes));
  return bytes;
}

// The corresponding place in another block of the cluster.
memory_location in_block(const memory_location& place, block& home) {
  return {home.shared.data() + place.address, &home, place.address};
}

// A prefetch only checks its operands.
void prefetch(warp& w, const instruction& i, const transfer_operands& operands, u32 mask) {
  for_lanes(mask, [&](unsigned lane) {
    byte_count(w, i, lane);
    if (const u64 address = address_in(w, operands.from, lane); address % bulk_alignment != 0)
      refuse(w, i, lane, fmt::format("a bulk prefetch from {:#x}, which is not a multiple of 16", address));
  });
}

void copy_bulk(warp& w, const instruction& i, u32 mask) {
  const transfer_operands& operands = w.owner->launched.kernel.transfers[i.detail];
  if (operands.prefetches) return prefetch(w, i, operands, mask);
  const reduction combine = operands.reduces ? reduction_of(operands.reduction, i.type) : nullptr;
  const access_kind written = operands.reduces ? access_kind::atomic : access_kind::write;
  cluster& group = w.owner->group;
  for_lanes(mask, [&](unsigned lane) {
    const u32 bytes = byte_count(w, i, lane);
    const memory_location from =
        find_location(w, i, operands.from, lane, bytes, bulk_alignment, access_kind::read);
    const memory_location to = find_location(w, i, operands.to, lane, bytes, bulk_alignment, written);
    if (to.home == nullptr) {
      auto task = std::make_unique<bulk_task>(w, i, lane, to, bytes, combine);
      task->take_from(from);
      task->complete_group();
      group.async.issue(std::move(task));
      return;
    }
    const memory_location barrier =
        find_location(w, i, operands.barrier, lane, mbarrier_bytes, mbarrier_bytes, access_kind::atomic);
    const auto issue = [&](const memory_location& place, const memory_location& signal) {
      auto task = std::make_unique<bulk_task>(w, i, lane, place, bytes, combine);
      task->take_from(from);
      task->complete_phase(signal);
      group.async.issue(std::move(task));
    };
    if (!operands.multicast) return issue(to, barrier);
    const u32 blocks = get<u16>(w.file + i.from[2], lane);
    if (blocks >> group.blocks.size() != 0)
      refuse(w, i, lane,
             fmt::format("the mask {:#06x} of a multicast names blocks beyond the cluster's {}", blocks,
                         group.blocks.size()));
    for_lanes(blocks, [&](unsigned rank) {
      block& home = *group.blocks[rank];
      if (has_ended(home)) raise_ended(w, i, lane, home);
      issue(in_block(to, home), in_block(barrier, home));
    });
  });
}

// st.async and red.async: the values are taken at issue.
template <class T>
void store(warp& w, const instruction& i, u32 mask) {
  const transfer_operands& operands = w.owner->launched.kernel.transfers[i.detail];
  const reduction combine = operands.reduces ? reduction_of(operands.reduction, i.type) : nullptr;
  const u32 bytes = static_cast<u32>(sizeof(T)) * i.count;
  for_lanes(mask, [&](unsigned lane) {
    const memory_location to = find_location(w, i, operands.to, lane, bytes, bytes, access_kind::write);
    const memory_location barrier =
        find_location(w, i, operands.barrier, lane, mbarrier_bytes, mbarrier_bytes, access_kind::atomic);
    if (to.home == nullptr || barrier.home == nullptr)
      refuse(w, i, lane, "st.async and red.async write shared memory; this is an address of global memory");
    if (to.home != barrier.home)
      refuse(
          w, i, lane,
          fmt::format(
              "the value goes to block {} of the cluster, and its mbarrier is in block {}; they must be in the same one",
              to.home->rank, barrier.home->rank));
    auto task = std::make_unique<bulk_task>(w, i, lane, to, bytes, combine);
    for (unsigned e = 0; e < i.count; ++e)
      std::memcpy(task->payload().data() + e * sizeof(T), w.file + i.to[e] + lane * sizeof(T), sizeof(T));
    task->complete_phase(barrier);
    w.owner->group.async.issue(std::move(task));
  });
}

// ---- bulk groups ----

void commit_bulk_group(warp& w, const instruction&, u32 mask) { w.owner->group.async.commit_bulk(w, mask); }

template <bool Read>
void wait_group(warp& w, const instruction& i, u32 mask) {
  w.owner->group.async.wait_bulk(w, i, mask, static_cast<u32>(i.immediate), Read);
}

}  // namespace

handler bulk_handler(const instruction& i) {
  switch (i.op) {
    case operation::bulk: return &copy_bulk;
    case operation::async_store:
    case operation::async_reduce: return i.to_bytes == 8 ? &store<u64> : &store<u32>;
    case operation::bulk_group:
      switch (static_cast<bulk_group_form>(i.form)) {
        case bulk_group_form::commit: return &commit_bulk_group;
        case bulk_group_form::wait: return &wait_group<false>;
        case bulk_group_form::wait_read: return &wait_group<true>;
      }
      return nullptr;
    default: return nullptr;
  }
}

}  // namespace kaio::emulator
