#pragma once
// The state of a running block: its warps, its shared and local memory, its barriers. Blocks of a grid share
// only global memory and the grid, which does not change while it runs.

#include "emulator/machine/grid.hpp"
#include "emulator/machine/observer.hpp"
#include "emulator/machine/warp.hpp"
#include "emulator/memory/memory.hpp"
#include "emulator/memory/zeroed_bytes.hpp"
#include "emulator/program/program.hpp"

#include <kaio/ptx/target.hpp>

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace kaio::emulator {

struct cluster;

inline constexpr unsigned barriers_of_a_block = 16;

struct barrier {
  bool open = false;                      // a thread has arrived since the last completion
  bool counted = false;                   // a thread count was given
  u32 expected = 0;                       // threads
  u32 arrivals = 0;                       // threads
  std::array<u32, warp_lanes> arrived{};  // lanes of each warp
  u32 true_count = 0, false_count = 0;    // predicates of bar.red
};

struct block {
  block(const grid& g, cluster& within, u32 rank);
  block(const block&) = delete;
  block& operator=(const block&) = delete;

  // Sets everything back to the start of the block with this index.
  void start(const ptx::dim3& index);
  // The registers of all warps, one after the other.
  std::span<const std::byte> register_files() const;

  const grid& launched;
  cluster& group;
  const u32 rank;  // within the cluster
  ptx::dim3 index;
  std::vector<std::byte> shared;
  zeroed_bytes local;  // lane by lane, warp by warp
  std::vector<warp> warps;
  std::array<barrier, barriers_of_a_block> barriers{};
  u64 changes = 0;  // counts memory writes, to find livelocks
  std::vector<std::unique_ptr<observer>> observers;
  std::vector<const region*> site_regions;  // the last region of each memory access of the kernel
  u64 executed = 0;                         // warp instructions
  bool finished = false;                    // and its observers are notified

 private:
  struct free_file {
    void operator()(std::byte* p) const;
  };
  std::unique_ptr<std::byte, free_file> files_;
  std::size_t file_stride_ = 0;
};

// True if all threads of the block have ended.
bool has_ended(const block& b);
// True if one of its warps can run.
bool is_ready(const block& b);

}  // namespace kaio::emulator
