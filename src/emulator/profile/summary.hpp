#pragma once
// The figures of a kernel's profile for its reports: the cost of each line of the text and of C++, sums by
// class of instruction and kind of memory, and coverage. It also gives the limit on a multiprocessor's
// resident blocks.
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
  u64 outcomes = 0;    // outcomes seen, of two per branch
  u64 executions = 0;  // by warps
  u64 divergent = 0;
  u64 taken = 0, not_taken = 0;  // lanes
};

// A line of the text with instructions, or a C++ line with all instructions that came from it.
struct line_figures {
  u32 number = 0;                      // in its file, from 1
  std::string_view text;               // PTX; a C++ line's source is not known here
  const source_place* from = nullptr;  // the C++ line, if known
  u64 instructions = 0, covered = 0;   // written there; executed by some lane
  instruction_counters sum;
  branch_figures branch;
  double cost = 0;  // see cost_of
};

struct coverage {
  u64 covered = 0, all = 0;
  double share() const { return all == 0 ? 1.0 : static_cast<double>(covered) / static_cast<double>(all); }
};

// Blocks that one multiprocessor holds at a time. The limit by registers is not known: the compiler of PTX
// decides how many a kernel takes.
struct occupancy {
  u32 by_threads = 0, by_shared = 0, by_blocks = 0;
  u32 blocks = 0;          // the least limit
  u32 warps = 0;           // warps of these blocks
  u32 most_warps = 0;      // warps that a multiprocessor holds
  u64 shared_bytes = 0;    // per block
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
  std::vector<line_figures> lines;          // lines of the text, by number
  std::vector<line_figures> cpp_lines;      // by file and number
  std::vector<const line_figures*> costly;  // from `lines`, the most costly one first
  double cost = 0;
  std::vector<occupancy> occupancies;  // by index of the launch's shape

  explicit summary(const kernel_profile& p) : of(p) {}
  summary(summary&&) = default;                // `costly` points into `lines`; a copy would have other lines
  const line_figures* line(u32 number) const;  // nullptr: it has no instructions
};

summary summarise(const kernel_profile& p);

// Issue slots of a multiprocessor, roughly, to rank lines:
//   1 a warp instruction            1 a sector of local memory
//   8 a sector of global memory     4 a wavefront of shared memory, or a turn of an atomic operation
double cost_of(const instruction_counters& c);

occupancy occupancy_of(const entry& kernel, const ptx::dim3& block, u32 dynamic_shared,
                       const architecture& device);

std::string_view name_of(memory_place place);
std::string_view name_of(access_direction direction);

}  // namespace kaio::emulator::profile
