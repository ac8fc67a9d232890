#pragma once
// Clusters: blocks that run at the same time on neighbouring multiprocessors, reach each other's shared memory and have
// a barrier. kernel_options{.cluster = {2, 1, 1}} or the launch gives the size; without either, a cluster is one block.
// Source: PTX ISA, "Cluster of Cooperative Thread Arrays". sm_90.
//
//   val rank = cluster_rank(t);            // of this block in its cluster, 0 to cluster_size(t) - 1
//   counts[t.thread_rank()] = 0u;
//   cluster_barrier(t);                    // every block of the cluster runs, and has initialised
//   atomic_add(remote(counts[bin], owner), 1u);
//   cluster_barrier(t);                    // no block ends while others access its shared memory

#include <kaio/dsl/async/fence.hpp>

#include <cstdint>

namespace kaio::dsl {

// A number of the cluster; a constant if the cluster size of the kernel determines it.
template <special_register R>
struct cluster_node : special_node<R> {
  constexpr const cluster_node& node() const { return *this; }
  constexpr value lower(tracer& t) const {
    using enum special_register;
    const ptx::dim3& c = t.cluster;
    if (c.count() == 0) return t.special(R);
    std::uint64_t known = 0;
    if constexpr (R == cluster_nctaid_x)
      known = c.x;
    else if constexpr (R == cluster_nctaid_y)
      known = c.y;
    else if constexpr (R == cluster_nctaid_z)
      known = c.z;
    else if constexpr (R == cluster_nctarank)
      known = c.count();
    else if (R == cluster_ctarank
                 ? c.count() != 1
                 : (R == cluster_ctaid_x && c.x != 1) || (R == cluster_ctaid_y && c.y != 1) ||
                       (R == cluster_ctaid_z && c.z != 1))
      return t.special(R);
    return t.constant(ptx::type::u32, known);
  }
};

// The index of the cluster in the grid (%clusterid), and the number of clusters (%nclusterid); u32.
constexpr special_node<special_register::clusterid_x> cluster_idx_x() { return {}; }
constexpr special_node<special_register::clusterid_y> cluster_idx_y() { return {}; }
constexpr special_node<special_register::clusterid_z> cluster_idx_z() { return {}; }
constexpr special_node<special_register::nclusterid_x> grid_dim_in_clusters_x() { return {}; }
constexpr special_node<special_register::nclusterid_y> grid_dim_in_clusters_y() { return {}; }
constexpr special_node<special_register::nclusterid_z> grid_dim_in_clusters_z() { return {}; }
// This block's place in its cluster (%cluster_ctaid), and the size of a cluster in blocks (%cluster_nctaid).
constexpr cluster_node<special_register::cluster_ctaid_x> block_idx_in_cluster_x() { return {}; }
constexpr cluster_node<special_register::cluster_ctaid_y> block_idx_in_cluster_y() { return {}; }
constexpr cluster_node<special_register::cluster_ctaid_z> block_idx_in_cluster_z() { return {}; }
constexpr cluster_node<special_register::cluster_nctaid_x> cluster_dim_x() { return {}; }
constexpr cluster_node<special_register::cluster_nctaid_y> cluster_dim_y() { return {}; }
constexpr cluster_node<special_register::cluster_nctaid_z> cluster_dim_z() { return {}; }

// The rank of this block in its cluster, x fastest (%cluster_ctarank).
constexpr val<u32> cluster_rank(const thread& t, std::uint32_t line = __builtin_LINE(),
                                const char* file = __builtin_FILE()) {
  return t.let(cluster_node<special_register::cluster_ctarank>{}, line, file);
}
// The number of blocks of a cluster (%cluster_nctarank).
constexpr val<u32> cluster_size(const thread& t, std::uint32_t line = __builtin_LINE(),
                                const char* file = __builtin_FILE()) {
  return t.let(cluster_node<special_register::cluster_nctarank>{}, line, file);
}

// --- the barrier of the cluster: every thread of every block arrives, and then waits. All lanes of a warp
// reach each call together.

// Arrives. After their wait, the threads of the cluster see this thread's earlier accesses.
constexpr void cluster_arrive(const thread& t, std::uint32_t line = __builtin_LINE(),
                              const char* file = __builtin_FILE()) {
  detail::emit_bare(t, opcode::barrier_cluster_arrive, in_order(modifier::aligned), line, file);
}
// Arrives without ordering memory: enough if nothing was written, or if a fence precedes it.
constexpr void cluster_arrive_relaxed(const thread& t, std::uint32_t line = __builtin_LINE(),
                                      const char* file = __builtin_FILE()) {
  detail::emit_bare(t, opcode::barrier_cluster_arrive, in_order(modifier::relaxed, modifier::aligned), line,
                    file);
}
// Waits until all threads of the cluster have arrived. In a launch without clusters, until the whole block waits.
constexpr void cluster_wait(const thread& t, std::uint32_t line = __builtin_LINE(),
                            const char* file = __builtin_FILE()) {
  detail::emit_bare(t, opcode::barrier_cluster_wait, in_order(modifier::aligned), line, file);
  if (!t.trace().probing()) t.trace().barrier_passed(t.trace().loop_depth());
}
// Arrives and waits.
constexpr void cluster_barrier(const thread& t, std::uint32_t line = __builtin_LINE(),
                               const char* file = __builtin_FILE()) {
  cluster_arrive(t, line, file);
  cluster_wait(t, line, file);
}

}  // namespace kaio::dsl

namespace kaio {
using dsl::block_idx_in_cluster_x;
using dsl::block_idx_in_cluster_y;
using dsl::block_idx_in_cluster_z;
using dsl::cluster_arrive;
using dsl::cluster_arrive_relaxed;
using dsl::cluster_barrier;
using dsl::cluster_dim_x;
using dsl::cluster_dim_y;
using dsl::cluster_dim_z;
using dsl::cluster_idx_x;
using dsl::cluster_idx_y;
using dsl::cluster_idx_z;
using dsl::cluster_rank;
using dsl::cluster_size;
using dsl::cluster_wait;
using dsl::grid_dim_in_clusters_x;
using dsl::grid_dim_in_clusters_y;
using dsl::grid_dim_in_clusters_z;
}  // namespace kaio
