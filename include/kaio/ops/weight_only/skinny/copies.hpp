#pragma once
// A warp's copies to shared memory in matmul_w4 for few rows of x: its tiles of W with scales and zero
// points, and of x. Each warp copies for itself alone, so that none waits for another. A warp's split of a
// stage is, in words,
//
//   codes      [column of tiles][tile][2][32 lanes][4], or [2][2][32][4] with eight bits; a lane reads what
//              it copied
//   scales_and_zeros      [column of tiles][tile], laid out as in scales_and_zeros.hpp
//   x          [rows][tile][8 pieces of 16 bytes], piece p of row r at p ^ r % 8
//
// Rows beyond the end of x are not read: they are zeros in all stages, and their products are dropped.

#include <kaio/dsl/async.hpp>
#include <kaio/dsl/dsl.hpp>
#include <kaio/dsl/mma.hpp>
#include <kaio/ops/weight_only/common/problem.hpp>
#include <kaio/ops/weight_only/common/rows.hpp>
#include <kaio/ops/weight_only/mma_sync/block.hpp>
#include <kaio/ops/weight_only/mma_sync/scale_copies.hpp>
#include <kaio/ops/weight_only/skinny/config.hpp>

#include <cstdint>

namespace kaio::ops {

using dsl::scalar;

// Words of a warp's split of a stage, and where they begin.
template <w4_few_rows_config C, class D>
struct w4_few_rows_stage {
  static constexpr std::uint32_t scales_and_zeros_at = C.tiles_n * C.tiles * C.words(),
                                 x_at = scales_and_zeros_at +
                                        C.tiles_n * C.tiles * w4_scales_and_zeros<D>::words;
  static constexpr std::uint32_t of_warp = x_at + C.rows * C.tiles * 32, words = C.warps * of_warp;
  using ring = shared<u32, C.stages * words>;
};

// The copies of codes, which begin before all else is computed.
template <w4_few_rows_config C, class D>
class w4_few_rows_codes {
 public:
  using stage_type = w4_few_rows_stage<C, D>;
  using ring_type = typename stage_type::ring;

  template <class End>
  constexpr w4_few_rows_codes(thread t, const ring_type& to, const val<w4_problem>& problem,
                              const w4_block& block, const End& end)
      : t_(t),
        last_(block.last),
        own_(t.let(t.warp_rank() * stage_type::of_warp)),
        lane_(t.let(t.lane_rank() * 4u)),
        // Tiles beyond the last one repeat it, and are not stored.
        tiles_n_(array_of<C.tiles_n>([&](u32 i) {
          const val tile = i == 0 ? t.let(block.tile_n + 0u)
                                  : end.tile_of_warp(t, problem, block.column, t.let(block.warp_n + i));
          return t.let(min(tile, problem[&w4_problem::w][&w4_packed::tiles_n] - 1u));
        })),
        apart_(t.let((tiles_n_[C.tiles_n - 1] - tiles_n_[0]) * problem[&w4_problem::w][&w4_packed::tiles_k])),
        from_(t.let(mul_wide(tiles_n_[0], problem[&w4_problem::w][&w4_packed::tiles_k]) * u64{C.words() * 4} +
                    cast<u64>(t.lane_rank() * 16u) + problem[&w4_problem::w][&w4_packed::codes])),
        to_(t.let(shared_address(to[lane_]))) {}

  // own: the first word of the warp's split of stage 0. of_lane: the lane's first word of codes, from that of
  // a stage on.
  constexpr const val<u32>& own() const { return own_; }
  constexpr const val<u32>& of_lane() const { return lane_; }
  constexpr auto has_second() const { return apart_ != 0u; }
  constexpr const auto& tiles_n() const { return tiles_n_; }

  // Copies tile `tile`, which exists, and the existing ones of the next tiles. The warp's split of the stage
  // begins at word `stage`.
  constexpr void copy(const val<u32>& tile, const val<u32>& stage) const {
    const val to = t_.let(to_ + stage * 4u);
    const auto from = array_of<C.tiles_n>([&](u32 n) {
      return t_.let(mul_wide(n == 0 ? t_.let(tile + 0u) : t_.let(tile + apart_), C.words() * 4) + from_);
    });
    const auto copy_tile = [&](u32 i) {
      for (u32 n = 0; n < C.tiles_n; ++n) {
        const in codes = pointer_at<in<u32>>(t_, from[n]);
        for (std::uint32_t word = i * C.words(); word < (i + 1) * C.words(); word += 128)
          cp_async<16>(to + 4 * (n * (C.tiles * C.words()) + word), codes[word], prefetch_size::bytes_128);
      }
    };
    copy_tile(0);
    for (u32 i = 1; i < C.tiles; ++i)
      if (auto exists = t_.when(tile + i < last_)) copy_tile(i);
  }

 private:
  thread t_;
  const val<u32>& last_;
  val<u32> own_, lane_;
  dsl::register_array<val<u32>, C.tiles_n> tiles_n_;
  val<u32> apart_;  // tiles from one column of tiles to the other
  val<u64> from_;
  val<u32> to_;  // address in shared memory
};

// A warp's copies of scales and zeros and x. XRows: as w4_rows_in_order.
template <w4_few_rows_config C, class D, scalar T, class XRows = w4_rows_in_order>
class w4_few_rows_copies {
 public:
  using stage_type = w4_few_rows_stage<C, D>;
  using codes_type = w4_few_rows_codes<C, D>;
  using ring_type = typename stage_type::ring;

  constexpr w4_few_rows_copies(thread t, const ring_type& to, const val<w4_problem>& problem,
                               const w4_block& block, const codes_type& codes, const XRows& rows = {})
      : t_(t),
        of_rows_(rows),
        to_(to),
        problem_(problem),
        block_(block),
        lane_(t.lane_rank()),
        k_(t.let(problem[&w4_problem::w][&w4_packed::k])),
        rows_(t.let(min(problem[&w4_problem::m] - block.row, C.rows))),
        by_pieces_(t.let(all_of(problem[&w4_problem::x_by_16] != 0u, k_ % w4_tile_k == 0u))),
        tile_of_piece_(t.let(lane_ / pieces % C.tiles)),
        row_(t.let(lane_ / (pieces * C.tiles))),
        place_(t.let(stage_type::x_at + row_ * (C.tiles * 32u) + tile_of_piece_ * 32u)),
        piece_(t.let(lane_ % pieces)),
        source_(of_rows_.source(t, row_)),
        x_(t.let(find_line(source_) + cast<u64>(piece_ * 16u))),
        x_to_(t.let(shared_address(to[place_ + (piece_ ^ row_) * 4u]))),
        exists_(t.let(all_of(by_pieces_, source_ < end_of_x()))),
        scales_and_zeros_(t, problem, codes.tiles_n(),
                          t.let(shared_address(to[stage_type::scales_and_zeros_at]))),
        has_more_(t.let(any_of(all_of(by_pieces_, rows_ > rows_of_pass), scales_and_zeros_.has_more()))) {}

  // Copies the scales and zeros of tile `tile`, which exists, and of the tiles after it; and x, if it comes by pieces.
  // The warp's split of the stage begins at word `stage`.
  constexpr void copy(const val<u32>& tile, const val<u32>& stage) const {
    const val x = t_.let(piece_of(of_lane(tile)));
    copy_scales_and_zeros(tile, stage);
    copy_first_piece(x, stage);
    if (auto more = t_.when(has_more_)) {
      copy_more_scales_and_zeros(tile, stage);
      copy_more_pieces(tile, x, stage);
    }
  }
  constexpr void copy_x(const val<u32>& tile, const val<u32>& stage) const {
    const val x = t_.let(piece_of(of_lane(tile)));
    copy_first_piece(x, stage);
    copy_more_pieces(tile, x, stage);
  }
  constexpr void copy_all_scales_and_zeros(const val<u32>& tile, const val<u32>& stage) const {
    copy_scales_and_zeros(tile, stage);
    if (auto more = t_.when(scales_and_zeros_.has_more())) copy_more_scales_and_zeros(tile, stage);
  }
  // Clears the rows beyond the end of x in all stages; the warp's split of the first stage begins at word
  // `first`.
  constexpr void clear_other_rows(const val<u32>& first) const {
    for (auto row : t_.range(row_, u32{C.rows}, rows_of_pass).no_unroll())
      if (auto other = t_.when(is_missing(row))) {
        const val place = t_.let(place_of(t_.let(row - row_)) + first);
        for (u32 stage = 0; stage < C.stages; ++stage)
          store_vec(to_[place + stage * stage_type::words], make_vec(0u, 0u, 0u, 0u));
      }
  }
  // Loads x of tile `first` and of the tiles after it into a stage, if x does not come by pieces. Elements
  // outside x become zero. No lane reads the stage any more: the warp has met since, for the stage before.
  constexpr void load_elements(const val<u32>& first, const val<u32>& stage) const {
    if (auto slow = t_.when(!by_pieces_)) {
      const val act_order = t_.let(problem_[&w4_problem::w][&w4_packed::rows]);
      const val at = t_.let((first + tile_of_piece_) * w4_tile_k + piece_ * piece);
      auto source = array_of<piece>([&](u32 e) { return var<u32>(t_, min(at + e, k_ - 1u)); });
      if (auto gathers = t_.when(act_order != u64{0}))
        for (auto& one : source) one = cast<u32>(pointer_at<in<i32>>(t_, act_order)[one]);
      var line(t_, x_ - cast<u64>(piece_ * 16u));
      const auto load_row = [&](const auto& of_row) {
        const in row = pointer_at<in<u16>>(t_, t_.let(line));
        const auto x = array_of<piece>([&](u32 e) { return t_.let(cast<u32>(row[source[e]])); });
        const auto pairs = array_of<4>([&](u32 w) {
          const val low = t_.let(select(at + 2 * w < k_, x[2 * w], 0u));
          const val high = t_.let(select(at + (2 * w + 1) < k_, x[2 * w + 1], 0u));
          return t_.let(low | high << 16);
        });
        store_vec(to_[place_of(t_.let(of_row - row_)) + stage],
                  make_vec(pairs[0], pairs[1], pairs[2], pairs[3]));
      };
      for (auto of_row : t_.range(row_, rows_, rows_of_pass).no_unroll()) {
        if constexpr (w4_in_order<XRows>) {
          load_row(of_row);
          line += further(1);
        } else {
          const val from = of_rows_.of_tile(t_, t_.let(of_row));
          line = find_line(from);
          if (auto exists = t_.when(from < end_of_x())) load_row(of_row);
        }
      }
      sync_warp(t_);
    }
  }

 private:
  static constexpr std::uint32_t piece = 16 / sizeof(T), pieces = w4_tile_k / piece;  // per row of a tile
  // In a pass each lane has one piece.
  static constexpr std::uint32_t rows_of_pass = 32 / (pieces * C.tiles), passes = C.rows / rows_of_pass;

  // The tile of the lane's piece, counted from `tile` on.
  constexpr val<u32> of_lane(const val<u32>& tile) const {
    return t_.let(min(tile + tile_of_piece_, block_.last - 1u));
  }
  constexpr void copy_first_piece(const val<u64>& x, const val<u32>& stage) const {
    if (auto some = t_.when(exists_)) cp_async<16>(x_to_ + stage * 4u, pointer_at<in<u32>>(t_, x)[0]);
  }
  constexpr void copy_more_pieces([[maybe_unused]] const val<u32>& tile, [[maybe_unused]] const val<u64>& x,
                                  const val<u32>& stage) const {
    if constexpr (w4_in_order<XRows>) {
      for (std::uint32_t pass = 1; pass < passes; ++pass)
        if (auto some = t_.when(all_of(by_pieces_, row_ + pass * rows_of_pass < rows_)))
          cp_async<16>(to_[place_of(u32{pass * rows_of_pass}) + stage],
                       pointer_at<in<u32>>(t_, t_.let(x + further(pass)))[0]);
    } else {
      if (auto some = t_.when(all_of(by_pieces_, rows_ > rows_of_pass)))
        for (std::uint32_t pass = 1; pass < passes; ++pass)
          if (auto inside = t_.when(row_ + pass * rows_of_pass < rows_)) {
            const val from = of_rows_.of_tile(t_, t_.let(row_ + pass * rows_of_pass));
            const auto within = mul_wide(of_lane(tile), u32{w4_tile_k * sizeof(T)}) + cast<u64>(piece_ * 16u);
            const val address = t_.let(find_line(from) + within);
            if (auto exists = t_.when(from < end_of_x()))
              cp_async<16>(to_[place_of(u32{pass * rows_of_pass}) + stage],
                           pointer_at<in<u32>>(t_, address)[0]);
          }
    }
  }
  constexpr void copy_scales_and_zeros(const val<u32>& tile, const val<u32>& stage) const {
    scales_and_zeros_.copy(scales_and_zeros_.find(tile), stage * 4u);
  }
  constexpr void copy_more_scales_and_zeros(const val<u32>& tile, const val<u32>& stage) const {
    scales_and_zeros_.copy_more(tile, stage * 4u);
  }
  // find_line: the address of a row of x; if rows are in order, of a row of the block. further: bytes from the
  // lane's row in the first pass to its row in another one, if rows are in order.
  constexpr val<u64> find_line(const val<u32>& row_of_x) const {
    const auto of_x = [&] {
      if constexpr (w4_in_order<XRows>)
        return block_.row + row_of_x;
      else
        return row_of_x;
    }();
    const val row = t_.let(cast<i64>(of_x) * problem_[&w4_problem::x_row]);
    return t_.let(problem_[&w4_problem::x] + cast<u64>(row) * u64{sizeof(T)});
  }
  // Rows of the block are missing from x: after its last row, or by their index.
  constexpr val<u32> end_of_x() const { return of_rows_.end(t_, rows_); }
  template <class Row>
  constexpr auto is_missing(const Row& row) const {
    if constexpr (w4_in_order<XRows>)
      return row >= rows_;
    else
      return of_rows_.source(t_, t_.let(row)) >= end_of_x();
  }
  constexpr auto further(std::uint32_t pass) const {
    return cast<u64>(problem_[&w4_problem::x_row]) * u64{pass * rows_of_pass * sizeof(T)};
  }
  constexpr val<u64> piece_of(const val<u32>& tile) const {
    return t_.let(mul_wide(tile, u32{w4_tile_k * sizeof(T)}) + x_);
  }
  // The word of the lane's piece in the row that is `rows` after its first one, from the first word of a
  // stage on.
  template <class Rows>
  constexpr auto place_of(const Rows& rows) const {
    return place_ + (piece_ ^ (row_ + rows) % 8u) * 4u + rows * u32{C.tiles * 32};
  }

  thread t_;
  XRows of_rows_;
  const ring_type& to_;
  const val<w4_problem>& problem_;
  const w4_block& block_;
  val<u32> lane_, k_, rows_;
  val<bool> by_pieces_;           // x comes by pieces of 16 bytes, none of them beyond K
  val<u32> tile_of_piece_, row_;  // tile and row of the lane's piece of x
  val<u32> place_,
      piece_;        // the first word of the lane's row of the tile in a stage; the piece's index in this row
  val<u32> source_;  // the lane's row in the first pass, of x
  val<u64> x_;       // its address in tile 0
  val<u32> x_to_;    // address in shared memory
  val<bool> exists_;
  w4_scale_copies<D, C.tiles, C.tiles_n> scales_and_zeros_;
  val<bool> has_more_;  // more than one piece of x and one of scales and zeros per lane
};

}  // namespace kaio::ops
