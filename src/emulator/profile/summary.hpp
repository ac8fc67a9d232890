#pragma once
// The figures of a kernel's profile, put together for its reports: what each line of the text and each C++
// line cost, sums by class of instruction and by kind of memory, coverage, and what limits the blocks that a
// multiprocessor holds.
//
//   const profile::summary s = profile::summarise(counts.kernels().front());
//   s.costly.front()->number    // the line of the text that cost most

#include "emulator/profile/classes.hpp"
#include "emulator/profile/counters.hpp"

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace kaio::emulator::profile {

enum class access_direction : u8 { load, store, atomic, copy };
inline constexpr std::size_t access_directions = 4;

// A conditional branch has two outcomes, and a line may have several branches.
struct branch_figures {
  u64 branches = 0;
  u64 outcomes = 0;    // that were seen, of two for each branch
  u64 executions = 0;  // by a warp
  u64 divergent = 0;
  u64 taken = 0, not_taken = 0;  // lanes
};

// A line of the text with instructions, or a C++ line with all that came from it.
struct line_figures {
  u32 number = 0;                      // of the line in its file, from 1
  std::string_view text;               // of PTX; the source of a C++ line is not known here
  const source_place* from = nullptr;  // the C++ line, where it is known
  u64 instructions = 0, covered = 0;   // written there, and executed by some lane
  instruction_counters sum;
  branch_figures branch;
  double cost = 0;  // see cost_of
};

struct coverage {
  u64 covered = 0, all = 0;
  double share() const { return all == 0 ? 1.0 : static_cast<double>(covered) / static_cast<double>(all); }
};

// Blocks that one multiprocessor holds at a time. The limit by registers is not known: how many a kernel
// takes is decided when PTX is compiled.
struct occupancy {
  u32 by_threads = 0, by_shared = 0, by_blocks = 0;
  u32 blocks = 0;          // the least of these
  u32 warps = 0;           // of these blocks
  u32 most_warps = 0;      // that a multiprocessor holds
  u64 shared_bytes = 0;    // of a block
  std::string_view limit;  // "threads", "shared memory" or "blocks"
};

struct class_figures {
  u64 warps = 0, lanes = 0;
};

struct summary {
  const kernel_profile& of;
  instruction_counters all;
  std::array<class_figures, instruction_classes> classes{};
  std::array<std::array<access_counters, access_directions>, memory_places> memory{};
  branch_figures branch;
  coverage ptx, cpp, outcomes;
  std::vector<line_figures> lines;          // of the text, by number
  std::vector<line_figures> cpp_lines;      // by file and number
  std::vector<const line_figures*> costly;  // of `lines`, the most costly one first
  double cost = 0;
  std::vector<occupancy> occupancies;  // by the number of the launch's shape

  explicit summary(const kernel_profile& p) : of(p) {}
  summary(summary&&) = default;                // `costly` points into `lines`, which a copy would have anew
  const line_figures* line(u32 number) const;  // nullptr: it has no instructions
};

summary summarise(const kernel_profile& p);

// Issue slots of a multiprocessor, roughly, so that lines can be put in an order: 1 for a warp instruction, 8
// for a sector of global memory, 1 for a sector of local memory, 4 for a wavefront of shared memory and for
// each turn of an atomic operation.
double cost_of(const instruction_counters& c);

occupancy occupancy_of(const entry& kernel, const ptx::dim3& block, u32 dynamic_shared,
                       const architecture& device);

std::string_view name_of(memory_place place);
std::string_view name_of(access_direction direction);

}  // namespace kaio::emulator::profile
