#pragma once
// The blocks that share a row: a cluster from sm_90 on, one block before.

#include <kaio/dsl/cluster.hpp>
#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/sampling/common/problem.hpp>

#include <cstdint>

namespace kaio::ops {

template <std::uint32_t Sm>
struct sample_team {
  static constexpr bool has_clusters = Sm >= 90;
  val<u32> row, rank, size;
  val<u32> warp;  // of all blocks

  static constexpr sample_team of(thread t) {
    if constexpr (has_clusters) {
      const val rank = t.let(cluster_rank(t));
      return {t.let(cluster_idx_x()), rank, t.let(cluster_size(t)),
              t.let(rank * sample_warps + t.warp_rank())};
    } else {
      return {t.let(block_idx_x()), t.let(val<u32>(0u)), t.let(val<u32>(1u)), t.let(t.warp_rank())};
    }
  }
  // The scope of an atomic operation on a cell of the team.
  static constexpr auto reach() {
    if constexpr (has_clusters)
      return scope::cluster;
    else
      return scope::block;
  }
  static constexpr void barrier(thread t) {
    if constexpr (has_clusters)
      cluster_barrier(t);
    else
      t.barrier();
  }
  // Cell `i` of this array in a block of the team.
  template <class Cells, class Index, class Rank>
  static constexpr auto in(const Cells& cells, const Index& i, const Rank& of) {
    if constexpr (has_clusters)
      return remote(cells[i], of);
    else
      return cells[i];
  }
};

}  // namespace kaio::ops
