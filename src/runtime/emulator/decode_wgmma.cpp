// Decodes the matrix multiplications of a warpgroup.

#include "runtime/emulator/form.hpp"

namespace kaio::runtime::emulator {

std::span<const opcode_row> wgmma_opcodes() { return {}; }

}  // namespace kaio::runtime::emulator
