#pragma once
// Runs a block: its warps have their turns in the order of the grid's schedule.

#include "emulator/machine/block.hpp"

namespace kaio::emulator {

// blocked: every warp waits, and only another block or an asynchronous operation can wake one.
enum class block_status : u8 { finished, paused, blocked };

// Runs about `budget` instructions. Throws fault.
block_status run_block(block& b, u64 budget);

}  // namespace kaio::emulator
