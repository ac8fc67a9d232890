#pragma once
// Why an opcode has no decode function: it is for variables of textures or newer architectures, or does not exist.

#include <kaio/ptx/target.hpp>

#include <string>
#include <string_view>

namespace kaio::emulator {

// The reason for rejecting an instruction that the emulator does not execute.
std::string reason_not_executed(std::string_view opcode, ptx::target target, ptx::isa_version version);

// Says that a form needs a newer target than the module's; if it does not, that the emulator lacks it. `first`:
// {100, true} is sm_100a.
std::string reason_newer(std::string_view form, ptx::target first, ptx::target target);

}  // namespace kaio::emulator
