#pragma once
// Lets all lanes of a warp execute an .aligned instruction (for the tensor cores) as one. Lanes that diverged
// may reach it at different times, so the first ones wait for the others.
//
//   void handle(warp& w, const instruction& i, u32 lanes) {
//     if (!assemble(w, i, lanes)) return;  // they wait; the last to arrive continues, for all
//     ...
//   }

#include "emulator/machine/warp.hpp"

namespace kaio::emulator {

bool is_aligned(operation op);

// True if all lanes of the warp have reached the instruction. Throws fault if some never will: they ended, or
// the block does not have them.
bool assemble(warp& w, const instruction& i, u32 lanes);

// Throws fault: only these lanes reached the instruction, and no others will.
[[noreturn]] void raise_not_aligned(warp& w, const instruction& i, u32 lanes);

}  // namespace kaio::emulator
