#pragma once
// The place of a block in the cluster of a matmul for sm_90a, and the blocks with which it shares tiles.
// The blocks of its row read the same tile of A, the blocks of its column the same tile of B.

#include <kaio/dsl/cluster.hpp>
#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/matmul/sm90/config.hpp>

#include <cstdint>

namespace kaio::ops {

template <sm90_config C>
class sm90_cluster_place {
 public:
  constexpr explicit sm90_cluster_place(thread t)
      : t_(t),
        size_m_(size_along_m(t)),
        size_n_(size_along_n(t)),
        rank_m_(rank_along_m(t)),
        rank_n_(rank_along_n(t)),
        plane_(blocks_before_plane(t, size_m_, size_n_)) {}

  // The place of this block in its cluster.
  constexpr const val<u32>& rank_m() const { return rank_m_; }
  constexpr const val<u32>& rank_n() const { return rank_n_; }
  // The blocks of the cluster along M and N.
  constexpr const val<u32>& size_m() const { return size_m_; }
  constexpr const val<u32>& size_n() const { return size_n_; }

  // The block of another plane that has this one's place.
  template <class Plane>
  constexpr val<u32> rank_in_plane(const Plane& plane) const {
    return t_.let(plane * (size_m_ * size_n_) + (rank_n_ * size_m_ + rank_m_));
  }

  // The number of blocks that read what one block loads: those of its row and of its column.
  constexpr auto sharers() const {
    if constexpr (C.by_launch())
      return val<u32>(t_.let(size_m_ + size_n_ - 1u));
    else
      return C.cluster_m + C.cluster_n - 1;
  }
  // The i-th block that writes into this one's shared memory: first the blocks of the column, then the others
  // of the row.
  constexpr val<u32> sharer(const val<u32>& i) const {
    const val other = i - size_m_;
    const val in_row = (other + cast<u32>(other >= rank_n_)) * size_m_ + rank_m_;
    return t_.let(plane_ + select(i < size_m_, rank_n_ * size_m_ + i, in_row));
  }
  // The blocks that get this block's part of A: those with its rank_m.
  template <sm90_cluster S>
  constexpr val<u32> row_mask() const {
    std::uint32_t mask = 0;
    for (std::uint32_t j = 0; j < S.n; ++j) mask |= 1u << (j * S.m);
    return t_.let(mask << (plane_ + rank_m_));
  }
  // The blocks that get its part of B.
  template <sm90_cluster S>
  constexpr val<u32> column_mask() const {
    return t_.let(((1u << S.m) - 1) << (plane_ + rank_n_ * S.m));
  }

  // Calls f with the shape of this cluster as a constant: each shape that the launch chooses from has a loop
  // of its own.
  template <class F>
  constexpr void with_shape(const F& f) const {
    if constexpr (C.by_launch()) {
      const auto is = [&]<sm90_cluster S>() {
        if constexpr (S.n <= C.most_cluster_n())
          if (auto chosen = t_.when(all_of(size_m_ == S.m, size_n_ == S.n))) f.template operator()<S>();
      };
      is.template operator()<sm90_cluster{1, 1}>();
      is.template operator()<sm90_cluster{2, 1}>();
      is.template operator()<sm90_cluster{1, 2}>();
      is.template operator()<sm90_cluster{2, 2}>();
    } else {
      f.template operator()<C.cluster()>();
    }
  }

 private:
  static constexpr val<u32> rank_along_m(thread t) {
    if constexpr (C.by_launch())
      return t.let(block_idx_in_cluster_x());
    else if constexpr (C.has_cluster())
      return t.let(cluster_rank(t) % C.cluster_m);
    else
      return t.let(0u);
  }
  static constexpr val<u32> rank_along_n(thread t) {
    if constexpr (C.by_launch())
      return t.let(block_idx_in_cluster_y());
    else if constexpr (C.has_cluster())
      return t.let(cluster_rank(t) / C.cluster_m);
    else
      return t.let(0u);
  }
  static constexpr val<u32> size_along_m(thread t) {
    if constexpr (C.by_launch())
      return t.let(cluster_dim_x());
    else
      return t.let(C.cluster_m);
  }
  static constexpr val<u32> size_along_n(thread t) {
    if constexpr (C.by_launch())
      return t.let(cluster_dim_y());
    else
      return t.let(C.cluster_n);
  }
  // The blocks of the cluster that are in planes before this one's.
  static constexpr auto blocks_before_plane(thread t, const val<u32>& size_m, const val<u32>& size_n) {
    if constexpr (C.planes)
      return val<u32>(t.let(block_idx_in_cluster_z() * (size_m * size_n)));
    else
      return u32{0};
  }

  thread t_;
  val<u32> size_m_, size_n_, rank_m_, rank_n_;
  std::conditional_t<C.planes, val<u32>, u32> plane_;
};

}  // namespace kaio::ops
