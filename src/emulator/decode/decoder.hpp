#pragma once
// Turns parsed PTX into decoded kernels: resolves names in their scopes, checks every instruction against
// what the PTX ISA and the module's .version and .target allow, lays variables out, and gives registers their
// rows. What is not valid, or valid and not executed by the emulator, is rejected with line, column and
// reason before anything runs.
//
//   decoded_module m = decode(parse(text), architecture{});

#include "emulator/parse/syntax.hpp"
#include "emulator/program/architecture.hpp"
#include "emulator/program/program.hpp"

namespace kaio::emulator {

struct decode_budget {
  std::size_t file_bytes = 8u << 20;      // register file of one warp
  std::size_t variable_bytes = 1u << 30;  // of one module's variables
  std::size_t instructions = 4u << 20;    // of all kernels together, each with the functions that it reaches
  u32 stack_bytes = 64u << 10;            // of a thread whose depth of calls is not known
};

// Throws ptx_error. The instructions of the result have no handlers yet: the interpreter binds them.
decoded_module decode(const syntax::module& module, const architecture& device,
                      const decode_budget& budget = {});

}  // namespace kaio::emulator
