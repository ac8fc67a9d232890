#pragma once
// Turns parsed PTX into decoded kernels: resolves names in their scopes, lays variables out, and gives
// registers their rows. It checks every instruction against the PTX ISA and the module's .version and
// .target. Invalid text, and valid text that the emulator does not execute, is rejected with line, column and
// reason before anything runs.
//
//   decoded_module m = decode(parse(text), architecture{});

#include "emulator/decode/decode_budget.hpp"
#include "emulator/parse/syntax.hpp"
#include "emulator/program/architecture.hpp"
#include "emulator/program/program.hpp"

namespace kaio::emulator {

// True if the device executes the module's .target: an older architecture, one of its family (sm_100f: sm_100 to
// sm_109), or exactly its own (sm_90a).
bool runs_on(const syntax::module& module, const architecture& device);

// Throws ptx_error. The instructions of the result have no handlers yet: the interpreter binds them.
decoded_module decode(const syntax::module& module, const architecture& device,
                      const decode_budget& budget = {});

}  // namespace kaio::emulator
