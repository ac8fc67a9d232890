#pragma once
// The shared memory of a block of matmul_w4 for one row of x.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/shared/row_sum.hpp>
#include <kaio/ops/weight_only/common/layout.hpp>
#include <kaio/ops/weight_only/gemv/config.hpp>
#include <kaio/ops/weight_only/gemv/x.hpp>

#include <cstdint>

namespace kaio::ops {

// The cluster's sums for the columns that this block finishes: [batch % 2][split][tile][32].
template <w4_one_row_config C>
struct w4_one_row_inbox {
  static constexpr std::uint32_t of_split = C.columns * w4_tile_n, of_batch = C.most_splits * of_split;
  using memory = shared<f32, 2 * of_batch>;
};

template <w4_one_row_config C, scalar T, class Tiles>
struct w4_one_row_shared {
  typename Tiles::ring_type words;             // codes, scales and zero points: warps x stages x step
  typename w4_one_row_x<C, T>::memory x;       // digits of the block's split of x
  shared<f32, C.partial()> partial;            // columns x warps x 32
  typename w4_one_row_inbox<C>::memory inbox;  // 2 batches x splits x columns x 32
  row_sums of_warps;                           // squares of x

  constexpr explicit w4_one_row_shared(thread t) : words(t), x(t), partial(t), inbox(t), of_warps(t) {}
};

}  // namespace kaio::ops
