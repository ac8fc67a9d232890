#pragma once
// Runs a block: its warps have their turns in the order of the grid's schedule.

#include "emulator/machine/block.hpp"
#include "emulator/run/watchdog.hpp"

namespace kaio::emulator {

// blocked: every warp waits, and only another block or an asynchronous operation can wake one.
enum class block_status : u8 { finished, paused, blocked };

// Runs about `steps` instructions; this thread's meter counts them. Throws fault.
block_status run_block(block& b, u64 steps, work_meter& meter);

}  // namespace kaio::emulator
