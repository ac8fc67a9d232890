#pragma once
// Runs a cluster: its blocks have their turns one after the other. Where none can move, asynchronous work is
// done, then waits that have a time limit end; after that it is a deadlock.

#include "emulator/machine/cluster.hpp"
#include "emulator/run/run_block.hpp"

namespace kaio::emulator {

// As run_block; `blocked` is reported as a deadlock before it gets here.
block_status run_cluster(cluster& c, u64 steps, work_meter& meter);

}  // namespace kaio::emulator
