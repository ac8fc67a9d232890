#pragma once
// The barrier of a cluster (PTX ISA, "barrier.cluster"): each thread arrives and later waits, until all
// threads of the cluster that have not ended have arrived. In a launch without clusters it waits until all
// threads of the block wait, as an H200 does (measured with driver 580; the PTX ISA does not say so).

#include "emulator/machine/warp.hpp"
#include "emulator/program/program.hpp"

namespace kaio::emulator {

struct cluster;

void arrive_at_cluster_barrier(warp& w, const instruction& i, u32 lanes);
void wait_at_cluster_barrier(warp& w, const instruction& i, u32 lanes);

// Completes the barrier if nobody is missing, as after the end of some lanes.
void settle_cluster_barrier(cluster& c);

}  // namespace kaio::emulator
