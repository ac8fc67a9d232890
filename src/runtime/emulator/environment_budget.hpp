#pragma once
// The budgets of a program's launches, as environment variables set them.

#include <vector>

#include "emulator/run/budget.hpp"

namespace kaio::runtime {

// Of one launch; those of the program share what all launches of it have used. Throws launch_error: a variable has a
// value that it cannot have.
std::vector<emulator::budget> environment_budgets();

}  // namespace kaio::runtime
