#pragma once
// What a module may cost at most: beyond it the decoder rejects the module.

#include "emulator/program/scalar.hpp"

#include <cstddef>

namespace kaio::emulator {

struct decode_budget {
  std::size_t file_bytes = 8u << 20;      // register file of one warp
  std::size_t variable_bytes = 1u << 30;  // of one module's variables
  std::size_t instructions = 4u << 20;    // of all kernels together, each with the functions that it reaches
  u32 stack_bytes = 64u << 10;            // of a thread whose depth of calls is not known
};

}  // namespace kaio::emulator
