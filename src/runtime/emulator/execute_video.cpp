// Executes the video instructions.

#include "runtime/emulator/execute.hpp"

namespace kaio::runtime::emulator {

handler video_handler(const instruction&) { return nullptr; }

}  // namespace kaio::runtime::emulator
