#pragma once
// Copies the scales and the zero points (or offsets) of a warp's tiles of matmul_w4 to shared memory. Each
// lane copies its own pieces of 16 bytes, laid out as in scales_and_zeros.hpp. Whatever is equal for all tiles is
// computed once.

#include <kaio/dsl/async.hpp>
#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/weight_only/common/layout.hpp>
#include <kaio/ops/weight_only/common/problem.hpp>
#include <kaio/ops/weight_only/common/scales_and_zeros.hpp>

#include <algorithm>
#include <cstdint>

namespace kaio::ops {

// Covers `Tiles` tiles along K for each of `TilesN` columns of tiles, one column after the other. Each tile
// begins at a multiple of w4_scales_and_zeros<D>::words.
template <class D, std::uint32_t Tiles = 1, std::uint32_t TilesN = 1>
class w4_scale_copies {
 public:
  using scales_and_zeros_of = w4_scales_and_zeros<D>;
  using tiles_n_type = dsl::register_array<val<u32>, TilesN>;
  static_assert(TilesN == 1 || TilesN == 2);
  static constexpr std::uint32_t all_tiles = Tiles * TilesN,
                                 passes = (all_tiles * scales_and_zeros_of::pieces + 31) / 32;

  constexpr w4_scale_copies(thread t, const val<w4_problem>& problem, const tiles_n_type& tiles_n,
                            const val<u32>& to)
      : t_(t),
        last_group_(t.let(problem[&w4_problem::w][&w4_packed::groups] - 1u)),
        multiplier_(t.let(problem[&w4_problem::w][&w4_packed::group][&divisor::multiplier])),
        shift_(t.let(problem[&w4_problem::w][&w4_packed::group][&divisor::shift] - 32u)),
        scales_(t.let(problem[&w4_problem::w][&w4_packed::slots] * (all_tiles * of_scales))),
        all_(
            t.let(scales_ + select(problem[&w4_problem::w][&w4_packed::zeros] != u64{0},
                                   problem[&w4_problem::w][&w4_packed::slots] * (all_tiles * of_zeros), 0u))),
        problem_(problem),
        tiles_n_(tiles_n),
        to_(to),
        first_(find_piece(0)) {}

  // For tiles `tile` to tile + Tiles - 1; `bytes` is the distance from the first place (`to`):
  //
  //   find         the address of the lane's first piece
  //   copy         copies that piece
  //   copy_more    copies the other pieces, if has_more()
  constexpr val<u64> find(const val<u32>& tile) const { return find(tile, first_); }
  template <class Bytes>
  constexpr void copy(const val<u64>& from, const Bytes& bytes) const {
    if (auto some = t_.when(first_.exists)) cp_async<16>(first_.at + bytes, pointer_at<in<u32>>(t_, from)[0]);
  }
  constexpr val<bool> has_more() const { return t_.let(all_ > 32u); }
  template <class Bytes>
  constexpr void copy_more(const val<u32>& tile, const Bytes& bytes) const {
    for (std::uint32_t pass = 1; pass < passes; ++pass)
      if (auto some = t_.when(all_ > 32 * pass)) {
        const piece own = find_piece(pass);
        if (auto exists = t_.when(own.exists))
          cp_async<16>(own.at + bytes, pointer_at<in<u32>>(t_, find(tile, own))[0]);
      }
  }

 private:
  struct piece {
    val<bool> exists;  // if false, the other members are those of piece 0
    val<u32> at;       // address in shared memory
    val<u32> k;        // offset along K, which gives the group
    val<u64> address;
    val<u32> pitch;  // pieces from group to group
  };

  constexpr val<u64> find(const val<u32>& tile, const piece& own) const {
    // divide() by the group size: a group has at least 16 k, so the divisor's shift is at least 35.
    const val group = t_.let(min(mul_hi(tile * w4_tile_k + own.k, multiplier_) >> shift_, last_group_));
    return t_.let(mul_wide(group, own.pitch) * u64{16} + own.address);
  }
  static constexpr std::uint32_t of_scales = scales_and_zeros_of::scale_pieces_of_group,
                                 of_zeros = scales_and_zeros_of::zero_pieces_of_group;

  // Pieces are ordered [slot][column of tiles][tile]: all scales first, then all zero points or offsets.
  constexpr piece find_piece(std::uint32_t pass) const {
    const auto w = problem_[&w4_problem::w];
    const val wanted = t_.let(t_.lane_rank() + 32 * pass);
    const val exists = t_.let(wanted < all_);
    const val own = t_.let(select(exists, wanted, 0u));
    const val is_scale = t_.let(own < scales_);
    const auto place = [&](const val<u32>& i, u32 of_group, u32 begin) {
      const val tile = t_.let(i / of_group % all_tiles), slot = t_.let(i / (of_group * all_tiles));
      const val inside = t_.let(i % of_group);
      return array_of<4>([&](u32 what) {
        return what == 0
                   ? t_.let((tile * scales_and_zeros_of::pieces + slot * of_group + inside + begin) * 4u)
               : what == 1
                   ? t_.let(tile % Tiles * w4_tile_k + slot * (w4_tile_k / scales_and_zeros_of::slots))
               : what == 2
                   ? t_.let(inside + 0u)
                   : t_.let(TilesN == 1 ? t_.let(tiles_n_[0] + 0u)
                                        : t_.let(select(tile < Tiles, tiles_n_[0], tiles_n_[TilesN - 1])));
      });
    };
    const auto scale = place(own, of_scales, 0);
    const auto zero = place(t_.let(own - scales_), std::max(of_zeros, 1u), scales_and_zeros_of::scale_pieces);
    const auto pick = [&](u32 what) { return t_.let(select(is_scale, scale[what], zero[what])); };
    const val at = pick(0), k = pick(1), inside = pick(2), tile_n = pick(3);
    const val of_group = t_.let(select(is_scale, of_scales, of_zeros));
    const val base = t_.let(select(is_scale, w[&w4_packed::scales], w[&w4_packed::zeros]));
    return {exists, t_.let(to_ + at * 4u), k,
            t_.let(base + (mul_wide(tile_n, of_group) + cast<u64>(inside)) * u64{16}),
            t_.let(w[&w4_packed::tiles_n] * of_group)};
  }

  thread t_;
  val<u32> last_group_, multiplier_, shift_;
  val<u32> scales_, all_;  // pieces
  const val<w4_problem>& problem_;
  const tiles_n_type& tiles_n_;
  val<u32> to_;
  piece first_;
};

}  // namespace kaio::ops
