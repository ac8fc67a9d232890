// Decodes the matrix multiplications of a warp: mma.sync, dense and sparse.

#include "runtime/emulator/form.hpp"

namespace kaio::runtime::emulator {

std::span<const opcode_row> mma_opcodes() { return {}; }

}  // namespace kaio::runtime::emulator
