#pragma once
// The tiles of queries of a persistent block, one per round. Every second round runs backwards. If tiles
// become shorter from the first to the last, as with a causal mask, no block then gets the longer tile each
// time.
//
//   block       0   1   2   3
//   round 0     0   1   2   3
//   round 1     7   6   5   4
//   round 2     8   9  10  11
//
// For leading heads (block.hpp) a block takes two tiles per round, which together have equally many keys each
// time. Two heads with n tiles each give tile n - 1 - i of the first and tile i of the second. Blocks thus
// stay in step, and concurrent tiles belong to few heads, whose K and V stay in L2.
//
//   pair        0       1       2       |  heads 0 and 1, of 3 tiles
//   tiles       2, 0    1, 1    0, 2    |  tile of head 0, tile of head 1
//
// Source for the order: longest processing time first (Graham, "Bounds on Multiprocessing Timing Anomalies",
// 1969).

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/attention/common/block.hpp>

#include <cstdint>

namespace kaio::ops {

template <class Walks>
class query_walk {
 public:
  // Tiles have `rows` queries; `walks` knows where they begin.
  constexpr query_walk(thread t, const val<attention_problem>& problem, std::uint32_t rows,
                       const Walks& walks)
      : query_walk(t, problem, rows, walks, t.let(block_idx_x())) {}
  // `first` is the index of the block's first tile. Blocks that share a tile have no other.
  constexpr query_walk(thread t, const val<attention_problem>& problem, std::uint32_t rows,
                       const Walks& walks, const val<u32>& first)
      : t_(t),
        problem_(problem),
        rows_(rows),
        walks_(walks),
        pairs_(t.let(problem[&attention_problem::leading_heads] / 2u *
                     problem[&attention_problem::query_tiles])),
        end_(t.let(problem[&attention_problem::query_tiles] * problem[&attention_problem::heads] *
                       problem[&attention_problem::batches] -
                   pairs_)),
        round_(t, 0u),
        index_(t, first),
        is_second_(t, 0u) {
    skip_missing();
  }

  constexpr val<bool> has_tile() const { return t_.let(index_ < end_); }
  constexpr attention_block block() const { return find_block(t_, problem_, place(), rows_, walks_); }
  constexpr void advance() {
    next();
    skip_missing();
  }

 private:
  // The place of pair `index_`. After the pairs it is that of tile `index_ + pairs_`, since a pair has two
  // tiles.
  constexpr tile_of_head place() const {
    const val tiles = t_.let(problem_[&attention_problem::query_tiles]);
    const auto single = tile_in_order(t_, problem_, t_.let(index_ + pairs_));
    var head(t_, single.head), tile(t_, single.tile);
    if (auto paired = t_.when(index_ < pairs_)) {
      const val pair = t_.let(index_ / tiles);
      const val of_pair = t_.let(index_ - pair * tiles);
      head = pair * 2u + is_second_;
      tile = select(is_second_ != 0u, of_pair, tiles - 1u - of_pair);
    }
    return {t_.let(head), t_.let(tile)};
  }
  constexpr void next() {
    if (auto first_of_two = t_.when(all_of(index_ < pairs_, is_second_ == 0u))) is_second_ = 1u;
    if (auto new_round = t_.otherwise()) {
      is_second_ = 0u;
      round_ += 1u;
      const val blocks = grid_dim_x();
      const val place = t_.let(select(round_ % 2u == 0u, block_idx_x(), blocks - 1u - block_idx_x()));
      index_ = round_ * blocks + place;
    }
  }
  // A sequence that is shorter than the longest one has fewer tiles.
  constexpr void skip_missing() {
    if (auto packed = t_.when(problem_[&attention_problem::packed] != 0u))
      for (auto missing : t_.loop()) {
        missing.break_if(!has_tile());
        const attention_block found = block();
        missing.break_if(found.first_query < found.queries);
        next();
      }
  }

  thread t_;
  val<attention_problem> problem_;
  std::uint32_t rows_;
  Walks walks_;
  val<u32> pairs_, end_;  // indices: pairs of tiles before pairs_, then single tiles to before end_
  var<u32> round_, index_, is_second_;
};

}  // namespace kaio::ops
