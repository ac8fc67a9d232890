#pragma once
// The .aligned instructions of a warp that all its lanes execute as one: those of the tensor cores. Lanes
// that diverged may come to one of them at different times, so the first to come wait for the others.
//
//   void handle(warp& w, const instruction& i, u32 lanes) {
//     if (!assemble(w, i, lanes)) return;  // they wait; the last to arrive continues, for all
//     ...
//   }

#include "emulator/machine/warp.hpp"

namespace kaio::emulator {

bool is_aligned(operation op);

// True if all lanes of the warp have come to the instruction. Throws fault if some of them never will,
// because they ended or are not there.
bool assemble(warp& w, const instruction& i, u32 lanes);

// Only these lanes have come, and no more will.
[[noreturn]] void raise_not_aligned(warp& w, const instruction& i, u32 lanes);

}  // namespace kaio::emulator
