#pragma once
// Decodes one kernel with all functions that it reaches.

#include "emulator/decode/kernel_decoder.hpp"

namespace kaio::emulator {

// `root`: as in kernel_decoder. Throws ptx_error.
entry decode_kernel(module_symbols& module, u32 root);

}  // namespace kaio::emulator
