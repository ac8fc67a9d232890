// Executes what happens beside the program order: asynchronous copies, mbarriers, tensor copies.

#include "runtime/emulator/execute.hpp"

namespace kaio::runtime::emulator {

handler async_handler(const instruction&) { return nullptr; }

}  // namespace kaio::runtime::emulator
