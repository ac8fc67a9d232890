#pragma once
// The limits of a module's cost. The decoder rejects a module beyond them.

#include "emulator/program/scalar.hpp"

#include <cstddef>

namespace kaio::emulator {

struct decode_budget {
  std::size_t file_bytes = 8u << 20;      // register file of one warp
  std::size_t variable_bytes = 1u << 30;  // variables of one module
  std::size_t instructions = 4u << 20;    // all kernels together, each with the functions that it reaches
  u32 stack_bytes = 64u << 10;            // per thread, if the depth of calls is not known
};

}  // namespace kaio::emulator
