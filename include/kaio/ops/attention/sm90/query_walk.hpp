#pragma once
// The tiles of queries of a persistent block, one round of all blocks after the other. Every second round goes
// backwards: where the tiles become shorter from the first to the last, as with a causal mask, no block has
// the longer one each time.
//
//   block       0   1   2   3
//   round 0     0   1   2   3
//   round 1     7   6   5   4
//   round 2     8   9  10  11

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
      : t_(t),
        problem_(problem),
        rows_(rows),
        walks_(walks),
        tiles_(t.let(problem[&attention_problem::query_tiles] * problem[&attention_problem::heads] *
                     problem[&attention_problem::batches])),
        round_(t, 0u),
        index_(t, block_idx_x()) {
    skip_missing();
  }

  constexpr val<bool> has_tile() const { return t_.let(index_ < tiles_); }
  constexpr attention_block block() const { return find_block(t_, problem_, t_.let(index_), rows_, walks_); }
  constexpr void advance() {
    next();
    skip_missing();
  }

 private:
  constexpr void next() {
    round_ += 1u;
    const val blocks = grid_dim_x();
    const val place = t_.let(select(round_ % 2u == 0u, block_idx_x(), blocks - 1u - block_idx_x()));
    index_ = round_ * blocks + place;
  }
  // A sequence that is shorter than the longest one has fewer tiles.
  constexpr void skip_missing() {
    if (auto packed = t_.when(problem_[&attention_problem::packed] != 0u))
      for (auto missing : t_.loop()) {
        missing.break_if(index_ >= tiles_);
        const attention_block found = block();
        missing.break_if(found.first_query < found.queries);
        next();
      }
  }

  thread t_;
  val<attention_problem> problem_;
  std::uint32_t rows_;
  Walks walks_;
  val<u32> tiles_;
  var<u32> round_, index_;
};

}  // namespace kaio::ops
