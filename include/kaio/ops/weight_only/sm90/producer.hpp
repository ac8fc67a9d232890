#pragma once
// The producer warp of matmul_w4 for sm_90a. In each stage a lane has at most one copy of each kind: lanes
// before tiles_n copy the codes of 32 columns each, the next ones the scales and zeros of a slot, lane 0 also x.
//
// Constant weights are copied before the previous kernel has ended. Columns beyond the end of W are not
// copied. The last stage is moved back to end with W. Those of its tiles that the stage before has too are
// multiplied by zeros: their x is read beyond the end of K.

#include <kaio/dsl/async.hpp>
#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/shared/divisor.hpp>
#include <kaio/ops/weight_only/common/problem.hpp>
#include <kaio/ops/weight_only/sm90/config.hpp>
#include <kaio/ops/weight_only/sm90/shared.hpp>

#include <cstdint>

namespace kaio::ops {

// If the configuration has an edge, the boxes of `edge` have the rows of the last tile (w4_edge_rows).
template <scalar T>
struct w4_sm90_maps {
  static constexpr std::uint32_t warps = 0;  // warps that copy x, next to the producer

  tensor_map<T, 2> x, edge;
};

// X: w4_sm90_maps, or a class whose warps copy x (kernel.hpp).
template <w4_sm90_config C, class Dequantisation, scalar T, class X = w4_sm90_maps<T>>
class w4_sm90_producer {
 public:
  using shared_memory = w4_sm90_shared<C, Dequantisation, T>;
  using producer = pipeline_producer<C.stages>;
  constexpr w4_sm90_producer(thread t, const shared_memory& shared, const X& maps,
                             const val<w4_problem>& problem, const w4_sm90_tile& tile,
                             const w4_sm90_steps& steps)
      : t_(t),
        shared_(shared),
        maps_(maps),
        problem_(problem),
        tile_(tile),
        steps_(steps),
        lane_(t.lane_rank()),
        all_n_(t.let(problem[&w4_problem::w][&w4_packed::tiles_n])),
        all_k_(t.let(problem[&w4_problem::w][&w4_packed::tiles_k])),
        here_(t.let(min(tiles_n, all_n_ - steps.first_tile_n))),
        zeros_(t.let(problem[&w4_problem::w][&w4_packed::zeros])),
        has_codes_(t.let(lane_ < here_)),
        codes_of_lane_(
            t.let(cast<u64>(steps.first_tile_n + lane_) * cast<u64>(all_k_) * u64{shape::words * 4} +
                  problem[&w4_problem::w][&w4_packed::codes])),
        scale_bytes_(t.let(here_ * (shape::scale_words * 4))),
        zero_bytes_(t.let(here_ * (shape::zero_words * 4))),
        bytes_(bytes_of_stage()),
        is_whole_(t.let(tile.rows == C.rows)),
        tile_of_lane_(t.let((lane_ - tiles_n) / D::slots)),
        slot_(t.let((lane_ - tiles_n) % D::slots)) {
    static_assert(tiles_n + C.tiles * D::slots <= 32, "kaio: a lane of the warp has one copy of each kind");
  }

  // Copies all stages of the block.
  constexpr void run(producer& to) const {
    if (auto late = t_.when(problem_[&w4_problem::constant] == 0u)) grid_dependency_wait(t_);
    for (auto step : t_.range(steps_.first, steps_.last).no_unroll()) {
      to.acquire();
      const val new_k = t_.let(step * C.tiles);
      const val tile_k = t_.let(min(new_k, all_k_ - C.tiles));
      if (auto one = t_.when(lane_ == 0u)) to.full().arrive_expect_tx(bytes_);
      sync_warp(t_);
      if (auto copies = t_.when(has_codes_)) copy_codes(to, tile_k);
      if (auto copies = t_.when(all_of(lane_ >= tiles_n, tile_of_lane_ < C.tiles, slot_ < u32{D::slots})))
        copy_scales_and_zeros(to, tile_k);
      if (auto one = t_.when(lane_ == 0u)) {
        // All other reads and writes of the kernel come after x, and so after this wait.
        if (auto begin = t_.when(step == steps_.first)) grid_dependency_wait(t_);
        if constexpr (X::warps == 0) {
          copy_x(to, new_k, tile_k);
        } else {
          if (auto copies = t_.when(!maps_.by_warps)) copy_x(to, new_k, tile_k);
        }
      }
      to.advance();
    }
  }

 private:
  using shape = w4_sm90_shape<C, Dequantisation>;
  using D = typename shape::D;
  static constexpr std::uint32_t tiles_n = shape::tiles_n;

  constexpr val<u32> bytes_of_stage() const {
    const val of_tile = t_.let(here_ * (shape::words * 4) +
                               u32{D::slots} * (scale_bytes_ + select(zeros_ != u64{0}, zero_bytes_, 0u)));
    if constexpr (X::warps != 0)
      return t_.let(C.tiles * (of_tile + select(maps_.by_warps, 0u, tile_.rows * (w4_tile_k * 2))));
    else
      return t_.let(C.tiles * (of_tile + tile_.rows * (w4_tile_k * 2)));
  }

  // Codes of the lane's 32 columns x all tiles of the stage.
  constexpr void copy_codes(const producer& to, const val<u32>& tile_k) const {
    constexpr std::uint32_t words = C.tiles * shape::words;
    const val from = t_.let(codes_of_lane_ + cast<u64>(tile_k) * u64{shape::words * 4});
    copy_bulk(shared_.codes()[(to.stage() * tiles_n + lane_) * words], pointer_at<in<u32>>(t_, from)[0],
              words * 4, to.full());
  }
  // Scales and zero points of all columns x the lane's slot.
  constexpr void copy_scales_and_zeros(const producer& to, const val<u32>& tile_k) const {
    const auto w = problem_[&w4_problem::w];
    const val k = t_.let((tile_k + tile_of_lane_) * w4_tile_k + slot_ * (w4_tile_k / D::slots));
    const quotient of_k = divide(t_, k, w[&w4_packed::group]);
    const val group = t_.let(cast<u64>(min(of_k.whole, w[&w4_packed::groups] - 1u)) * cast<u64>(all_n_) +
                             cast<u64>(steps_.first_tile_n));
    const val scales = t_.let(group * u64{shape::scale_words * 4} + w[&w4_packed::scales]);
    const val first = t_.let(shared_.first_scale(t_.let(to.stage()), tile_of_lane_));
    copy_bulk(shared_.scales_and_zeros()[first + slot_ * (tiles_n * shape::scale_words)],
              pointer_at<in<u32>>(t_, scales)[0], scale_bytes_, to.full());
    if constexpr (D::zero_points)
      if (auto some = t_.when(zeros_ != u64{0}))
        copy_bulk(shared_.scales_and_zeros()[first + (slot_ * (tiles_n * shape::zero_words) +
                                                      D::slots * tiles_n * shape::scale_words)],
                  pointer_at<in<u32>>(t_, t_.let(group * u64{shape::zero_words * 4} + zeros_))[0],
                  zero_bytes_, to.full());
  }
  // x: rows x 64 of each tile of the stage.
  constexpr void copy_x(const producer& to, const val<u32>& new_k, const val<u32>& tile_k) const {
    for (std::uint32_t k = 0; k < C.tiles; ++k) {
      const val own_k = t_.let(tile_k + k);
      const val first_k = t_.let(select(own_k < new_k, all_k_, own_k) * w4_tile_k);
      const auto tile_of_x = shared_.x[to.stage() * C.tiles + k];  // rows x 64
      const auto copy = [&](const auto& map) {
        copy_tensor(tile_of_x, map, coordinates(first_k, tile_.row), to.full());
      };
      if constexpr (C.has_edge()) {
        if (auto whole = t_.when(is_whole_)) copy(maps_.x);
        if (auto edge = t_.otherwise()) copy(maps_.edge);
      } else {
        copy(maps_.x);
      }
    }
  }

  thread t_;
  const shared_memory& shared_;
  const X& maps_;
  const val<w4_problem>& problem_;
  const w4_sm90_tile& tile_;
  const w4_sm90_steps& steps_;
  val<u32> lane_;
  val<u32> all_n_, all_k_;  // tiles of W
  val<u32> here_;           // tiles of 32 columns that the block has
  val<u64> zeros_;
  val<bool> has_codes_;
  val<u64> codes_of_lane_;             // address of its first tile
  val<u32> scale_bytes_, zero_bytes_;  // bytes per slot
  val<u32> bytes_;                     // bytes per stage
  [[maybe_unused]] val<bool> is_whole_;
  val<u32> tile_of_lane_, slot_;  // of its scales and zeros
};

}  // namespace kaio::ops
