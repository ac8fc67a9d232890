#pragma once
// The counters of a profile while kernels run: each instruction's executions, lanes, and the cost of its
// memory accesses. Launches of one kernel are added up. Nothing is sampled, and nothing depends on the host
// machine.
//
//   profile::collector counts;
//   l.observers.push_back(&counts);
//   run(l, global);
//   for (const profile::kernel_profile& p : counts.kernels()) std::cout << profile::text_report(p);

#include "emulator/machine/block.hpp"
#include "emulator/machine/grid.hpp"
#include "emulator/machine/observer.hpp"
#include "emulator/program/source_map.hpp"

#include <array>
#include <cstddef>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace kaio::emulator::profile {

// The memory of a warp's access. For a generic address it is known only at execution.
enum class memory_place : u8 { global, shared, cluster, local, constant, parameter };
inline constexpr std::size_t memory_places = 6;

struct access_counters {
  u64 requests = 0;      // by a warp
  u64 lanes = 0;         // lanes that took part
  u64 bytes = 0;         // bytes that the lanes asked for
  u64 transactions = 0;  // sectors in global and local memory, wavefronts in shared memory
  u64 ideal = 0;         // the minimum for this number of different bytes
  u64 worst = 0;         // most transactions of one request
  u64 atomics = 0;       // requests that are atomic
  u64 atomic_turns = 0;  // lanes at the address that most of the request's lanes use

  access_counters& operator+=(const access_counters& other);
};

struct instruction_counters {
  u64 executions = 0;  // by warps
  u64 active = 0;      // lanes present
  u64 executed = 0;    // lanes that also passed the guard; for a branch: that took it
  u64 empty = 0;       // executions in which no lane passed the guard
  u64 divergent = 0;   // branch executions after which the lanes diverged
  std::array<access_counters, memory_places> memory{};

  const access_counters& at(memory_place place) const { return memory[static_cast<std::size_t>(place)]; }
  access_counters& at(memory_place place) { return memory[static_cast<std::size_t>(place)]; }
  instruction_counters& operator+=(const instruction_counters& other);
};

// A shape of launches, and the number of launches with it.
struct launch_shape {
  ptx::dim3 grid, block, cluster;
  u32 dynamic_shared = 0;
  u64 launches = 0;
};

struct kernel_profile {
  std::string name;
  module program;
  const entry* kernel = nullptr;             // in `program`
  std::vector<source_place> statement_of{};  // by the line of the text, from 0; empty: not known
  std::vector<launch_shape> shapes{};        // the first different ones
  u64 launches = 0;
  u64 faulted = 0;  // launches that ended with a fault
  u64 blocks = 0, threads = 0, warps = 0;
  u64 barriers = 0;                              // completed block barriers
  std::vector<instruction_counters> counters{};  // by index in entry::code
};

class launch_counters;

// Counts for the launches that it watches. It may watch several at a time.
class collector final : public grid_observer {
 public:
  collector();
  ~collector() override;

  void begin(const grid& g) override;
  std::unique_ptr<observer> watch(block& b) override;
  void end(const grid& g) override;

  // The kernels in the order of their first launch. Must not be called while a grid runs.
  const std::list<kernel_profile>& kernels() const { return kernels_; }

 private:
  kernel_profile& profile_of(const grid& g);

  std::mutex mutex_;
  std::list<kernel_profile> kernels_;
  std::map<u64, std::unique_ptr<launch_counters>> running_;  // by the number of the grid
};

}  // namespace kaio::emulator::profile
