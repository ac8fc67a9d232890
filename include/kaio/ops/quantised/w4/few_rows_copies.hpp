#pragma once
// The copies to shared memory of a warp of matmul_w4 for up to eight rows of x: its tiles of W with their
// scales and zero points, and of x, all by the warp alone, so that none waits for another one. A warp's part of
// a stage is, in words,
//
//   codes      [tile][2][32 lanes][4], or [2][2][32][4] of eight bits: what a lane copies it reads itself
//   facts      [tile], as facts.hpp has them
//   x          [8 rows][tile][8 pieces of 16 bytes], piece p of row r at p ^ r
//
// Rows that x does not have are not read: the matrix instruction gets the last one in their place, and their
// products are dropped.

#include <kaio/dsl/async.hpp>
#include <kaio/dsl/dsl.hpp>
#include <kaio/dsl/mma.hpp>
#include <kaio/ops/quantised/w4/block.hpp>
#include <kaio/ops/quantised/w4/fact_copies.hpp>
#include <kaio/ops/quantised/w4/few_rows_config.hpp>
#include <kaio/ops/quantised/w4/problem.hpp>

#include <cstdint>

namespace kaio::ops {

using dsl::scalar;

template <w4_few_rows_config C, class D, scalar T>
class w4_few_rows_copies {
 public:
  static constexpr std::uint32_t facts_at = C.tiles * C.words(),
                                 x_at = facts_at + C.tiles * w4_facts<D>::words;
  static constexpr std::uint32_t words = x_at + C.rows * C.tiles * 32;  // of a warp's part of a stage
  static constexpr std::uint32_t stage_words = C.warps * words;
  using words_type = shared<u32, C.stages * stage_words>;

  constexpr w4_few_rows_copies(thread t, const words_type& to, const val<w4_problem>& problem,
                               const w4_block& block)
      : t_(t),
        to_(to),
        problem_(problem),
        block_(block),
        lane_(t.lane_rank()),
        own_(t.let(t.warp_rank() * words)),
        // Warps beyond the last tile copy it too, and store nothing.
        tile_n_(t.let(min(block.tile_n, problem[&w4_problem::w][&w4_packed::tiles_n] - 1u))),
        k_(t.let(problem[&w4_problem::w][&w4_packed::k])),
        rows_(t.let(min(problem[&w4_problem::m] - block.row, C.rows))),
        tile_of_piece_(t.let(lane_ / pieces % C.tiles)),
        has_pieces_(array_of<passes>([&](u32 pass) {
          return t.let(all_of(problem[&w4_problem::x_by_16] != 0u, k_ % w4_tile_k == 0u,
                              rows_ > pass * rows_of_pass));
        })),
        codes_(t.let(mul_wide(tile_n_, problem[&w4_problem::w][&w4_packed::tiles_k]) * u64{C.words() * 4} +
                     cast<u64>(lane_ * 16u) + problem[&w4_problem::w][&w4_packed::codes])),
        codes_to_(t.let(shared_address(to[own_ + lane_ * 4u]))),
        facts_(t, problem, tile_n_, t.let(shared_address(to[own_]))),
        lines_(array_of<passes>([&](u32 pass) { return find_line(pass); })),
        has_more_(t.let(any_of(has_pieces_[1], facts_.has_more()))) {}

  constexpr const val<u32>& own() const { return own_; }  // the word at which the tile of stage 0 begins
  constexpr const val<u32>& rows() const { return rows_; }

  // Tiles `tile` to tile + tiles - 1 of the warp, those that there are, into a stage; x where it comes by pieces.
  constexpr void copy(const val<u32>& tile, std::uint32_t stage) const {
    if (auto exists = t_.when(tile < block_.last)) {
      const val of_x = t_.let(min(tile + tile_of_piece_, block_.last - 1u));
      copy_weights_of(tile, stage);
      const auto copy_pieces = [&](u32 pass) {
        if (auto some = t_.when(has_pieces_[pass]))
          cp_async<16>(lines_[pass].address + 4 * stage * stage_words,
                       pointer_at<in<u32>>(t_, piece_of(of_x, pass))[0]);
      };
      copy_pieces(0);
      if (auto more = t_.when(has_more_)) {
        facts_.copy_more(tile, 4 * (stage * stage_words + facts_at));
        for (std::uint32_t pass = 1; pass < passes; ++pass) copy_pieces(pass);
      }
    }
  }
  constexpr void copy_weights(const val<u32>& tile, std::uint32_t stage) const {
    if (auto exists = t_.when(tile < block_.last)) {
      copy_weights_of(tile, stage);
      facts_.copy_more(tile, 4 * (stage * stage_words + facts_at));
    }
  }
  // x of the first stages, from tile `first` on, by pieces, by loads: copies end in the order of their groups, and
  // the first tile would wait for the weights of all.
  template <std::uint32_t Stages>
  constexpr void load_pieces(const val<u32>& first) const {
    auto x = array_of<Stages * passes>([&](u32) { return array_of<4>([&](u32) { return var(t_, 0u); }); });
    for (u32 i = 0; i < Stages * passes; ++i)
      if (auto some = t_.when(has_pieces_[i % passes])) {
        const val tile =
            t_.let(min(first + (i / passes * (C.warps_k() * C.tiles)) + tile_of_piece_, block_.last - 1u));
        const val four = load_vec<4>(pointer_at<in<u32>>(t_, piece_of(tile, i % passes))[0]);
        for (u32 e = 0; e < 4; ++e) x[i][e] = four[e];
      }
    for (u32 i = 0; i < Stages * passes; ++i)
      if (auto some = t_.when(has_pieces_[i % passes])) {
        const auto words_of = array_of<4>([&](u32 e) { return t_.let(x[i][e]); });
        store_vec(to_[place(i % passes, i / passes)],
                  make_vec(words_of[0], words_of[1], words_of[2], words_of[3]));
      }
  }
  // x of the tiles of all stages, from `first` of stage 0 on, where it does not come by pieces. What x does not
  // have becomes zero.
  constexpr void load_elements(const val<u32>& first) const {
    if (auto slow = t_.when(!has_pieces_[0])) {
      sync_warp(t_);
      const val order = t_.let(problem_[&w4_problem::w][&w4_packed::rows]);
      for (u32 stage = 0; stage < C.stages; ++stage) {
        const val tile = t_.let(first + tile_of_piece_ + stage * (C.warps_k() * C.tiles));
        const val at = t_.let(tile * w4_tile_k + lane_ % pieces * piece);
        auto source = array_of<piece>([&](u32 e) { return var<u32>(t_, min(at + e, k_ - 1u)); });
        if (auto ordered = t_.when(order != u64{0}))
          for (auto& one : source) one = cast<u32>(pointer_at<in<i32>>(t_, order)[one]);
        for (std::uint32_t pass = 0; pass < passes; ++pass)
          if (auto some = t_.when(rows_ > pass * rows_of_pass)) {
            const in row = pointer_at<in<u16>>(t_, lines_[pass].row);
            const auto x = array_of<piece>([&](u32 e) { return t_.let(cast<u32>(row[source[e]])); });
            const auto pairs = array_of<4>([&](u32 w) {
              const val low = t_.let(select(at + 2 * w < k_, x[2 * w], 0u));
              const val high = t_.let(select(at + (2 * w + 1) < k_, x[2 * w + 1], 0u));
              return t_.let(low | high << 16);
            });
            store_vec(to_[place(pass, stage)], make_vec(pairs[0], pairs[1], pairs[2], pairs[3]));
          }
      }
    }
  }

 private:
  static constexpr std::uint32_t piece = 16 / sizeof(T), pieces = w4_tile_k / piece;  // of a row of a tile
  static constexpr std::uint32_t rows_of_pass = 32 / (pieces * C.tiles), passes = C.rows / rows_of_pass;

  constexpr void copy_weights_of(const val<u32>& tile, std::uint32_t stage) const {
    const val from = t_.let(mul_wide(tile, C.words() * 4) + codes_);
    const val facts = facts_.find(tile);
    const in codes = pointer_at<in<u32>>(t_, from);
    const auto copy_tile = [&](u32 i) {
      for (std::uint32_t word = i * C.words(); word < (i + 1) * C.words(); word += 128)
        cp_async<16>(codes_to_ + 4 * (stage * stage_words + word), codes[word], prefetch_size::bytes_128);
    };
    copy_tile(0);
    facts_.copy(facts, 4 * (stage * stage_words + facts_at));
    for (u32 i = 1; i < C.tiles; ++i)
      if (auto exists = t_.when(tile + i < block_.last)) copy_tile(i);
  }

  // A row of x that the lane has a piece of: the last one for those that are not there.
  struct line {
    val<u64> row, from;  // the piece of tile 0
    val<u32> place, address;  // in shared memory: the word, the byte
  };
  constexpr line find_line(std::uint32_t pass) const {
    const val row = t_.let(lane_ / (pieces * C.tiles) + pass * rows_of_pass), p = t_.let(lane_ % pieces);
    const val of_x = t_.let(cast<i64>(block_.row + min(row, rows_ - 1u)) * problem_[&w4_problem::x_row]);
    const val address = t_.let(problem_[&w4_problem::x] + cast<u64>(of_x) * u64{sizeof(T)});
    const val to = t_.let(own_ + (row * (C.tiles * 32u) + tile_of_piece_ * 32u + (p ^ row) * 4u + x_at));
    return {address, t_.let(address + cast<u64>(p * 16u)), to, t_.let(shared_address(to_[to]))};
  }
  constexpr auto place(std::uint32_t pass, std::uint32_t stage) const {
    return lines_[pass].place + stage * stage_words;
  }
  constexpr val<u64> piece_of(const val<u32>& tile, std::uint32_t pass) const {
    return t_.let(mul_wide(tile, u32{w4_tile_k * sizeof(T)}) + lines_[pass].from);
  }

  thread t_;
  const words_type& to_;
  const val<w4_problem>& problem_;
  const w4_block& block_;
  val<u32> lane_, own_, tile_n_, k_, rows_;
  val<u32> tile_of_piece_;  // of the tiles of a stage, that the lane's pieces of x are of
  // Of each pass: whether rows of x are copied by pieces of 16 bytes, none of which ends beyond K, and it has any.
  dsl::register_array<val<bool>, passes> has_pieces_;
  val<u64> codes_;
  val<u32> codes_to_;  // a byte of shared memory
  w4_fact_copies<D, C.tiles> facts_;
  dsl::register_array<line, passes> lines_;
  val<bool> has_more_;  // than a piece of x and one of facts for each lane
};

}  // namespace kaio::ops
