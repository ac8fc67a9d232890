#pragma once
// The special registers of a warp (PTX ISA, "Special Registers"): those that a kernel reads and that do not
// change while it runs are rows of the register file, which are filled when the block starts.

#include "emulator/machine/grid.hpp"
#include "emulator/machine/warp.hpp"

namespace kaio::emulator {

// Fills the rows entry::specials of the warp's register file. `index`: of its block; `rank`: of its block
// within the cluster.
void fill_specials(warp& w, const grid& g, const ptx::dim3& index, u32 rank);

}  // namespace kaio::emulator
