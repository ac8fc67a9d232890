// Executes loads, stores and moves of matrix fragments, and wmma.

#include "runtime/emulator/execute.hpp"

namespace kaio::runtime::emulator {

handler matrix_handler(const instruction&) { return nullptr; }

}  // namespace kaio::runtime::emulator
