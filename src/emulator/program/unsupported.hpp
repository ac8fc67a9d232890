#pragma once
// Why an opcode has no decode function: it is of textures, of newer architectures, or no instruction at all.

#include <string>
#include <string_view>

namespace kaio::emulator {

// The reason of the rejection of an instruction that the emulator does not execute.
std::string reason_not_executed(std::string_view opcode);

}  // namespace kaio::emulator
