#pragma once
// A running block: its warps, its shared and local memory, its barriers. Blocks of a grid share nothing but
// the grid, which does not change while it runs, and global memory.

#include "emulator/machine/grid.hpp"
#include "emulator/machine/observer.hpp"
#include "emulator/machine/warp.hpp"
#include "emulator/memory/memory.hpp"
#include "emulator/memory/zeroed_bytes.hpp"
#include "emulator/program/error.hpp"
#include "emulator/program/program.hpp"

#include <kaio/ptx/target.hpp>

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace kaio::emulator {

struct cluster;

inline constexpr unsigned barriers_of_a_block = 16;

struct barrier {
  bool open = false;                      // a thread has arrived since it last completed
  bool counted = false;                   // a thread count was given
  u32 expected = 0;                       // threads
  u32 arrivals = 0;                       // threads
  std::array<u32, warp_lanes> arrived{};  // lanes of each warp
  u32 true_count = 0, false_count = 0;    // predicates of bar.red
};

// blocked: every warp waits, and only another block or an asynchronous operation can wake one.
enum class block_status : u8 { finished, paused, blocked };

struct block {
  block(const grid& g, cluster& within, u32 rank);
  block(const block&) = delete;
  block& operator=(const block&) = delete;

  // Sets everything back to the start of the block with this index.
  void start(const ptx::dim3& index);
  // Runs about `budget` instructions. Throws fault.
  block_status run(u64 budget);

  // A hash of its state, without the memory that other blocks see. Equal
  // states without a change of memory between them repeat for ever.
  u64 fingerprint() const;
  // Reports a livelock of this block and of those that the text lists.
  [[noreturn]] void report_standstill(const std::string& others) const;
  // Appends a line of text for each group of lanes that waits, and whom they wait for.
  void list_waits(std::string& to, unsigned& listed) const;
  // Raises a deadlock at the first lanes that wait here. False if none does.
  bool raise_deadlock(const std::string& who) const;
  // The line of an instruction in the text of the module.
  std::string_view text_of(const instruction& i) const;
  // Where its warps are, as a line of text.
  std::string whereabouts() const;

  // ---- what handlers call ----
  void arrive(warp& w, const instruction& i, u32 lanes, u32 number, bool counted, u32 count, u32 predicate,
              bool waits);
  void end_lanes(warp& w, u32 lanes);
  [[noreturn]] void raise(const warp& w, const instruction& i, unsigned lane, fault_report report) const;
  // The parts of a report that name the thread and the place; returns the bytes of the space.
  void identify(const warp& w, const instruction& i, unsigned lane, fault_report& report) const;
  u64 locate_object(state_space home, u64 offset, u64 address, fault_report& report) const;
  // `alignment`: what the address must be a multiple of; 0: of `bytes`.
  [[noreturn]] void raise_access(const warp& w, const instruction& i, unsigned lane, access_kind access,
                                 state_space space, u64 address, u32 bytes, u32 alignment = 0) const;

  const grid& launched;
  cluster& group;
  const u32 rank;  // within the cluster
  ptx::dim3 index;
  std::vector<std::byte> shared;
  zeroed_bytes local;  // lane by lane, warp by warp
  std::vector<warp> warps;
  std::array<barrier, barriers_of_a_block> barriers{};
  u64 changes = 0;  // counts what was written to memory, so that a livelock is found
  std::vector<std::unique_ptr<observer>> observers;
  std::vector<const region*> site_regions;  // where each memory access of the kernel went last

 private:
  bool complete(const barrier& b) const;
  void release(u32 number);
  void fill_specials(warp& w);
  warp* next_warp(u32& turn);

  struct free_file {
    void operator()(std::byte* p) const;
  };
  std::unique_ptr<std::byte, free_file> files_;
  std::size_t file_stride_ = 0;
  u64 executed_ = 0;
  bool finished_ = false;  // and its observers know
};

}  // namespace kaio::emulator
