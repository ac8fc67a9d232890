#pragma once
// What a launch may use: warp instructions, or wall-clock time, of its own or together with others. A launch may
// have several budgets, and is ended by the first that is used up.
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
  nanoseconds,  // of wall-clock time within launches; where several run at a time, each counts
};

struct budget {
  budget_unit unit = budget_unit::warp_instructions;
  u64 limit = 0;  // a launch ends when more than this is used
  // Of a budget that launches share: what those before and next to this one have used, to which it adds its own.
  // nullptr: the budget is that of one launch.
  std::shared_ptr<std::atomic<u64>> used;
  // For the report; must outlive the launch.
  std::string_view scope = "the launch";  // whose it is
  std::string_view origin;                // what sets it
};

}  // namespace kaio::emulator
