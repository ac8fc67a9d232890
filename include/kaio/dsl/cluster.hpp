#pragma once
// Clusters of blocks: the place of a block in its cluster, the cluster's barrier, and the shared memory of
// the other blocks. The parts can be included alone.
//
//   cluster_barrier(t);
//   val theirs = remote(partial[i], peer);

#include <kaio/dsl/cluster/position.hpp>
#include <kaio/dsl/cluster/remote.hpp>
