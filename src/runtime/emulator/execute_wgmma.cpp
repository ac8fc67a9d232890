// Executes the matrix multiplications of a warpgroup.

#include "runtime/emulator/execute.hpp"

namespace kaio::runtime::emulator {

handler wgmma_handler(const instruction&) { return nullptr; }

}  // namespace kaio::runtime::emulator
