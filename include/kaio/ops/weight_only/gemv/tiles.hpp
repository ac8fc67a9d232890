#pragma once
// A warp's tiles of W in matmul_w4 for one row of x, in the order of multiplication: its split of K, for one
// tile of columns after the other. The lanes copy them into a ring of the warp's own, `stages` - 1 steps
// ahead. A step is up to two neighbours along K. In words it has
//
//   codes     [tile][2 or 4][32 lanes][4]  a lane reads what it copied
//   scales_and_zeros     [tile], laid out as in scales_and_zeros.hpp

#include <kaio/dsl/async.hpp>
#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/weight_only/common/problem.hpp>
#include <kaio/ops/weight_only/common/scales_and_zeros.hpp>
#include <kaio/ops/weight_only/gemv/config.hpp>

#include <cstdint>

namespace kaio::ops {

// A range: tiles of K, or units of columns.
struct w4_one_row_part {
  val<u32> first, last;
};

// ScalesAndZeros: w4_scales_and_zeros of the codes.
template <w4_one_row_config C, class ScalesAndZeros>
class w4_one_row_tiles {
 public:
  using scales_and_zeros_of = ScalesAndZeros;
  static constexpr std::uint32_t of_codes = C.tiles * C.words(),
                                 of_scales_and_zeros = C.tiles * scales_and_zeros_of::words,
                                 of_step = of_codes + of_scales_and_zeros;
  using ring_type = shared<u32, C.warps * C.stages * of_step>;
  static_assert(scales_and_zeros_of::slots == 1 && C.tiles * scales_and_zeros_of::pieces <= 32);

  // tile_of(i): the index along N of the i-th tile of columns.
  template <class TileOf>
  constexpr w4_one_row_tiles(thread t, const ring_type& ring, const val<w4_problem>& problem,
                             const w4_one_row_part& own, const val<u32>& columns, const TileOf& tile_of)
      : t_(t),
        w_(problem),
        own_(own),
        lane_(t.lane_rank()),
        begin_(t.let(t.warp_rank() * (C.stages * of_step))),
        to_(t.let(shared_address(ring[begin_]))),
        codes_(t.let(field(&w4_packed::codes) + cast<u64>(lane_ * 16u))),
        multiplier_(t.let(field(&w4_packed::group)[&divisor::multiplier])),
        shift_(t.let(field(&w4_packed::group)[&divisor::shift] - 32u)),
        last_group_(t.let(field(&w4_packed::groups) - 1u)),
        piece_(find_piece()),
        column_(t, 0u),
        tile_n_(t, tile_of(val<u32>(0u))),
        tile_(t, own.first),
        stage_(t, 0u),
        left_(t.let(select(own.first < own.last, columns, 0u))) {}

  // The first word of the warp's steps.
  constexpr const val<u32>& begin() const { return begin_; }

  // Copies the next step, if there is one, as one group.
  template <class TileOf>
  constexpr void ask(const TileOf& tile_of) {
    thread t = t_;
    if (auto exists = t.when(column_ < left_)) {
      const val tile = t.let(tile_), stage = t.let(stage_), tile_n = t.let(tile_n_);
      const val to = t.let(to_ + stage);
      const val index = t.let(tile_n * field(&w4_packed::tiles_k) + tile);
      const in codes = pointer_at<in<u32>>(t, t.let(mul_wide(index, C.words() * 4) + codes_));
      const auto copy_tile = [&](u32 i) {
        for (std::uint32_t word = i * C.words(); word < (i + 1) * C.words(); word += 128)
          cp_async<16>(to + (lane_ * 16u + word * 4), codes[word], prefetch_size::bytes_128);
      };
      copy_tile(0);
      for (u32 i = 1; i < C.tiles; ++i)
        if (auto more = t.when(tile + i < own_.last)) copy_tile(i);
      if (auto some = t.when(piece_.exists)) {
        const val k = t.let((tile + piece_.tile) * w4_tile_k);
        const val group = t.let(min(mul_hi(k, multiplier_) >> shift_, last_group_));
        const val of_group = t.let(group * field(&w4_packed::tiles_n) + tile_n);
        const val from = t.let(mul_wide(of_group, piece_.bytes) + piece_.address);
        cp_async<16>(to + piece_.at, pointer_at<in<u32>>(t, from)[0]);
      }
      const val following = t.let(tile + C.tiles);
      const val ends = t.let(following >= own_.last);
      tile_ = select(ends, own_.first, following);
      if (auto next = t.when(ends)) {
        column_ = column_ + 1u;
        tile_n_ = tile_of(t.let(column_));
      }
      const val after = t.let(stage + of_step * 4);
      stage_ = select(after == C.stages * of_step * 4, 0u, after);
    }
    cp_async_commit_group(t);
  }

 private:
  // A lane's piece of 16 bytes of a step's scales and zeros.
  struct scale_piece {
    val<bool> exists;
    val<u32> tile;   // tile of the step
    val<u32> at;     // in bytes from the step's first word
    val<u32> bytes;  // bytes per group and tile of columns
    val<u64> address;
  };
  constexpr scale_piece find_piece() const {
    thread t = t_;
    constexpr u32 of_scales = scales_and_zeros_of::scale_pieces,
                  of_zeros = scales_and_zeros_of::zero_pieces_of_group;
    constexpr u32 scales = C.tiles * of_scales;
    const val has_zeros = t.let(field(&w4_packed::zeros) != u64{0});
    const val is_scale = t.let(lane_ < scales);
    const val own = t.let(select(is_scale, lane_, lane_ - scales));
    const val tile = t.let(select(is_scale, own / of_scales, own / std::max(of_zeros, 1u)));
    const val inside = t.let(select(is_scale, own % of_scales, own % std::max(of_zeros, 1u) + of_scales));
    const val exists = t.let(any_of(is_scale, all_of(has_zeros, lane_ < scales + C.tiles * of_zeros)));
    const val first = t.let(select(is_scale, inside, inside - of_scales));
    const val base = t.let(select(is_scale, field(&w4_packed::scales), field(&w4_packed::zeros)));
    return {exists, tile, t.let((of_codes + tile * scales_and_zeros_of::words + inside * 4u) * 4u),
            t.let(select(is_scale, of_scales * 16, of_zeros * 16)), t.let(base + cast<u64>(first * 16u))};
  }
  template <class Member>
  constexpr auto field(Member member) const {
    return w_[&w4_problem::w][member];
  }

  thread t_;
  const val<w4_problem>& w_;
  const w4_one_row_part& own_;
  val<u32> lane_, begin_;
  val<u32> to_;  // address in shared memory
  val<u64> codes_;
  val<u32> multiplier_, shift_, last_group_;
  scale_piece piece_;
  var<u32> column_, tile_n_, tile_;  // place of the next step
  var<u32> stage_;                   // in bytes
  val<u32> left_;                    // columns; 0 if the warp has no K
};

}  // namespace kaio::ops
