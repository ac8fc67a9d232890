#pragma once
// The observer of one block: owns its checks, and passes each event to the checks that it concerns.
//
//   registers   uses of registers that were never written
//   matrices    registers of wgmma without a fence or a wait
//   memory      reads of bytes that were never written, writes to inputs
//   order       what threads know of each other (happens-before), for the checks below
//   races       conflicting accesses that nothing orders
//   barriers    barriers that threads miss or diverge at
//   indices     addresses from 32-bit products that wrapped
//   constants   memory that is loaded as constant, and written
//   grids       memory of a preceding grid, without a wait for it
//   warps       operations of a warp that rely on lanes which take no part
//   async       memory of asynchronous operations, without a wait for them

#include "emulator/machine/observer.hpp"
#include "emulator/sanitizer/checks/asynchronous.hpp"
#include "emulator/sanitizer/checks/barriers.hpp"
#include "emulator/sanitizer/checks/constant_loads.hpp"
#include "emulator/sanitizer/checks/grids.hpp"
#include "emulator/sanitizer/checks/indices.hpp"
#include "emulator/sanitizer/checks/matrices.hpp"
#include "emulator/sanitizer/checks/memory.hpp"
#include "emulator/sanitizer/checks/order.hpp"
#include "emulator/sanitizer/checks/races.hpp"
#include "emulator/sanitizer/checks/registers.hpp"
#include "emulator/sanitizer/checks/warps.hpp"
#include "emulator/sanitizer/state/watched.hpp"

namespace kaio::emulator::sanitizing {

class watcher final : public observer {
 public:
  watcher(watched_grid& g, block& b);

  void start(block&) override;
  void finish(block&) override;
  void before(warp&, const instruction&, u32 mask) override;
  void access(warp&, const instruction&, u32 mask, u32 bytes, access_kind,
              const std::byte* const (&at)[warp_lanes]) override;
  void called(warp&, const instruction&, u32 lanes, u32 bytes,
              const std::byte* const (&frame)[warp_lanes]) override;
  void met(warp&, const instruction&, u32 lanes, u32 members) override;
  void arrived(warp&, const instruction&, u32 lanes, u32 barrier) override;
  void completed(block&, u32 barrier) override;
  void cluster_arrived(warp&, const instruction&, u32 lanes) override;
  void cluster_completed(block&) override;
  void async_issued(const async_operation&) override;
  void async_completed(const async_operation&) override;
  void async_waited(warp&, const instruction&, unsigned lane, async_completion, u64 groups,
                    bool read) override;
  void phase_initialized(warp&, const instruction&, unsigned lane, block& home, u32 offset) override;
  void phase_invalidated(warp&, const instruction&, unsigned lane, block& home, u32 offset) override;
  void phase_arrived(warp&, const instruction&, unsigned lane, block& home, u32 offset, u64 phase) override;
  void phase_completed(block& home, u32 offset, u64 phase) override;
  void phase_seen(warp&, const instruction&, u32 lanes, block& home, u32 offset, u64 phase) override;

 private:
  watched_grid& grid_;
  watched_block block_;
  register_check registers_;
  matrix_check matrices_;
  memory_check memory_;
  constant_load_check constants_;
  happens_before order_;
  race_check races_;
  grid_check grids_;
  barrier_check barriers_;
  warp_check warps_;
  index_check indices_;
  async_check async_;
};

}  // namespace kaio::emulator::sanitizing
