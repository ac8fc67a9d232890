#pragma once
// Why an opcode has no decode function: it is of textures, of newer architectures, or no instruction at all.

#include <kaio/ptx/target.hpp>

#include <string>
#include <string_view>

namespace kaio::emulator {

// The reason of the rejection of an instruction that the emulator does not execute.
std::string reason_not_executed(std::string_view opcode, ptx::target target, ptx::isa_version version);

// That a form is for a newer target than the module's; or, where it is not, that the emulator lacks it. `first`:
// {100, true} is sm_100a.
std::string reason_newer(std::string_view form, ptx::target first, ptx::target target);

}  // namespace kaio::emulator
