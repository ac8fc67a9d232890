#pragma once
// A limit on a launch, or on several together: warp instructions or wall-clock time. A launch may have several
// budgets; the first exceeded one ends it.
//
//   launch l;
//   l.budgets.push_back({.unit = budget_unit::nanoseconds, .limit = 2'000'000'000, .origin = "KAIO_LAUNCH_SECONDS"});

#include "emulator/program/scalar.hpp"

#include <atomic>
#include <memory>
#include <string_view>

namespace kaio::emulator {

enum class budget_unit : u8 {
  warp_instructions,
  nanoseconds,  // wall-clock time within launches; concurrent launches each count
};

struct budget {
  budget_unit unit = budget_unit::warp_instructions;
  u64 limit = 0;  // a launch ends when the use exceeds it
  // For a shared budget: the use of the earlier and concurrent launches, to which this launch adds its own.
  // nullptr: the budget belongs to one launch.
  std::shared_ptr<std::atomic<u64>> used;
  // For the report; must outlive the launch.
  std::string_view scope = "the launch";  // its owner
  std::string_view origin;                // its source
};

}  // namespace kaio::emulator
