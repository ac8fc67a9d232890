#pragma once
// The barrier of a cluster (PTX ISA, "barrier.cluster"): each thread arrives, and later waits until all live
// threads of the cluster have arrived. In a launch without clusters it waits until all threads of the block
// wait, as an H200 does (measured with driver 580; the PTX ISA does not say so).

#include "emulator/machine/warp.hpp"
#include "emulator/program/program.hpp"

namespace kaio::emulator {

struct cluster;

void arrive_at_cluster_barrier(warp& w, const instruction& i, u32 lanes);
void wait_at_cluster_barrier(warp& w, const instruction& i, u32 lanes);

// Completes the barrier if no thread is missing, for example after some lanes ended.
void settle_cluster_barrier(cluster& c);

}  // namespace kaio::emulator
