#pragma once
// The special registers of a warp (PTX ISA, "Special Registers"). A special register that does not change
// while the kernel runs is a row of the register file, filled when the block starts.

#include "emulator/machine/grid.hpp"
#include "emulator/machine/warp.hpp"

namespace kaio::emulator {

// Fills the rows entry::specials of the warp's register file. `index`: the index of its block; `rank`: the
// block's rank in the cluster.
void fill_specials(warp& w, const grid& g, const ptx::dim3& index, u32 rank);

}  // namespace kaio::emulator
