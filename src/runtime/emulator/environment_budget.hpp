#pragma once
// The budgets of a program's launches, as environment variables set them.

#include <chrono>
#include <vector>

#include "emulator/run/budget.hpp"

namespace kaio::runtime {

// Returns the budgets of one launch. Budgets of the program count what all its launches have used. Throws
// launch_error: a variable has an impossible value.
std::vector<emulator::budget> environment_budgets();

// Returns how long launches may wait for memory that nobody writes (KAIO_LIVELOCK_SECONDS) before they are a livelock. Throws
// launch_error: the variable has an impossible value.
std::chrono::nanoseconds environment_patience();

}  // namespace kaio::runtime
