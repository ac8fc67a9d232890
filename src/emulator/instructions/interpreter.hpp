#pragma once
// Gives every instruction of a decoded module the function that executes it.

#include "emulator/program/program.hpp"

namespace kaio::emulator {

// Throws ptx_error for a form that no function executes.
void bind(decoded_module& module);

}  // namespace kaio::emulator
