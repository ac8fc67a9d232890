// Decodes loads, stores and moves of matrix fragments, and wmma.

#include "runtime/emulator/form.hpp"

namespace kaio::runtime::emulator {

std::span<const opcode_row> matrix_opcodes() { return {}; }

}  // namespace kaio::runtime::emulator
