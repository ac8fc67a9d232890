// Decodes what happens beside the program order: asynchronous copies, mbarriers, tensor copies.

#include "runtime/emulator/form.hpp"

namespace kaio::runtime::emulator {

std::span<const opcode_row> async_opcodes() { return {}; }

}  // namespace kaio::runtime::emulator
