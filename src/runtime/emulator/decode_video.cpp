// Decodes the video instructions.

#include "runtime/emulator/form.hpp"

namespace kaio::runtime::emulator {

std::span<const opcode_row> video_opcodes() { return {}; }

}  // namespace kaio::runtime::emulator
