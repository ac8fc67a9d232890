#pragma once
// Gives every instruction of a decoded module the function that executes it.

#include "runtime/emulator/program.hpp"

namespace kaio::runtime::emulator {

// Throws ptx_error for a form that no function executes.
void bind(decoded_module& module);

}  // namespace kaio::runtime::emulator
