#pragma once
// Runs a cluster: its blocks take turns. If none can move, asynchronous work is done, then waits with a time
// limit end; after that it is a deadlock.

#include "emulator/machine/cluster.hpp"
#include "emulator/run/run_block.hpp"

namespace kaio::emulator {

// Like run_block, but reports `blocked` as a deadlock.
block_status run_cluster(cluster& c, u64 steps, work_meter& meter);

}  // namespace kaio::emulator
