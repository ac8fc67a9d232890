// The instructions with which blocks of a cluster cooperate.

#include "emulator/barrier/cluster_barrier.hpp"
#include "emulator/instructions/execute.hpp"
#include "emulator/machine/block.hpp"
#include "emulator/machine/cluster.hpp"
#include "emulator/machine/lanes.hpp"
#include "emulator/machine/raise_fault.hpp"

#include <fmt/format.h>

#include <utility>

namespace kaio::emulator {
namespace {

[[noreturn]] void refuse(warp& w, const instruction& i, unsigned lane, std::string detail) {
  fault_report report;
  report.kind = fault_kind::out_of_bounds;
  report.detail = std::move(detail);
  raise_fault(w, i, lane, std::move(report));
}

u64 address_of(const warp& w, const instruction& i, unsigned lane) {
  return i.from_bytes == 8 ? get<u64>(w.file + i.from[0], lane) : get<u32>(w.file + i.from[0], lane);
}

// The address within the window of shared memory.
u32 shared_address(warp& w, const instruction& i, unsigned lane) {
  const u64 address = address_of(w, i, lane);
  const u64 offset = i.space == state_space::generic ? address - shared_window : address;
  if (offset >= window_bytes)
    refuse(w, i, lane, fmt::format("{:#x} is not an address of shared memory", address));
  return static_cast<u32>(offset);
}

void map_address(warp& w, const instruction& i, u32 mask) {
  for_lanes(mask, [&](unsigned lane) {
    const u32 rank = get<u32>(w.file + i.from[1], lane);
    const auto blocks = static_cast<u32>(w.owner->group.blocks.size());
    if (rank >= blocks)
      refuse(w, i, lane,
             fmt::format("a thread maps an address to block {} of a cluster of {}", rank, blocks));
    const u32 mapped = (shared_address(w, i, lane) & cluster_offset_mask) | (rank + 1) << cluster_rank_bit;
    if (i.to_bytes == 8)
      put(w.file + i.to[0], lane, mapped + (i.space == state_space::generic ? shared_window : 0));
    else
      put(w.file + i.to[0], lane, mapped);
  });
}

void rank_of_address(warp& w, const instruction& i, u32 mask) {
  for_lanes(mask, [&](unsigned lane) {
    u32 offset = 0;
    const block* home = w.owner->group.find(*w.owner, shared_address(w, i, lane), offset);
    if (home == nullptr)
      refuse(w, i, lane, "a thread asks for the rank of an address outside of its cluster");
    put(w.file + i.to[0], lane, home->rank);
  });
}

void arrive_at_cluster(warp& w, const instruction& i, u32 mask) { arrive_at_cluster_barrier(w, i, mask); }
void wait(warp& w, const instruction& i, u32 mask) { wait_at_cluster_barrier(w, i, mask); }

}  // namespace

handler cluster_handler(const instruction& i) {
  switch (i.op) {
    case operation::mapa: return &map_address;
    case operation::getctarank: return &rank_of_address;
    case operation::cluster_arrive: return &arrive_at_cluster;
    case operation::cluster_wait: return &wait;
    default: return nullptr;
  }
}

}  // namespace kaio::emulator
