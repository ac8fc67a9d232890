#pragma once
// The row of a thread, and the thread's part of it.

#include <kaio/dsl/cluster.hpp>
#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/rows/division.hpp>

#include <cstdint>

namespace kaio::ops {

template <std::uint32_t Sm, class Problem>
class row_place {
 public:
  constexpr row_place(thread t, const Problem& problem)
      : t_(t),
        problem_(problem),
        size_(t.let(problem[&rows_problem::size])),
        lanes_log_(t.let(problem[&rows_problem::lanes_log])),
        blocks_(t.let(problem[&rows_problem::blocks])),
        staged_(t.let(problem[&rows_problem::staged])),
        lanes_(t.let(val<u32>(1u) << lanes_log_)),
        rank_(t.let(t.thread_rank())),
        lane_(t.let(rank_ & (lanes_ - 1u))),
        block_(find_block()),
        row_(t.let(find_cluster() * (val<u32>(row_threads) >> lanes_log_) + (rank_ >> lanes_log_))),
        exists_(t.let(row_ < problem[&rows_problem::rows])),
        index_(find_index()),
        begin_(t.let(block_ * problem[&rows_problem::share])) {}

  constexpr const val<u32>& size() const { return size_; }
  constexpr const val<bool>& exists() const { return exists_; }
  constexpr const val<u32>& row() const { return row_; }
  constexpr const val<u32>& lane() const { return lane_; }      // of a block's threads for the row
  constexpr const val<u32>& lanes() const { return lanes_; }    // of a block, for a row
  constexpr const val<u32>& blocks() const { return blocks_; }  // of a cluster, for a row
  constexpr const val<u32>& block() const { return block_; }    // of these
  // The block's first element, and how many a row has there; a row beyond the last one has as many.
  constexpr const val<u32>& begin() const { return begin_; }
  constexpr val<u32> share() const {
    return t_.let(min(max(size_, begin_) - begin_, problem_[&rows_problem::share]));
  }

  // The address of this row of a tensor whose elements have `bytes` bytes.
  template <class Rows>
  constexpr val<u64> row_of(const Rows& tensor, u32 bytes) const {
    thread t = t_;
    var offset(t, cast<i64>(index_.head) * tensor[&row_strides::head]);
    if (auto deep = t.when(problem_[&rows_problem::is_flat] == 0u))
      offset = offset + cast<i64>(index_.batch) * tensor[&row_strides::batch] +
               cast<i64>(index_.token) * tensor[&row_strides::token];
    return t.let(tensor[&row_strides::address] + cast<u64>(offset) * u64{bytes});
  }

 protected:
  // How many elements this thread's row has in the block: none if there is no such row.
  constexpr val<u32> own_share() const { return t_.let(select(exists_, share(), 0u)); }

  thread t_;
  Problem problem_;
  val<u32> size_, lanes_log_, blocks_, staged_, lanes_, rank_, lane_, block_, row_;
  val<bool> exists_;

 private:
  struct place {
    val<u32> head, token, batch;
  };
  constexpr val<u32> find_block() const {
    thread t = t_;
    if constexpr (Sm >= 90)
      return t.let(block_idx_x() & (blocks_ - 1u));
    else
      return t.let(val<u32>(0u));
  }
  constexpr val<u32> find_cluster() const {
    thread t = t_;
    if constexpr (Sm >= 90)
      return t.let(block_idx_x() >> popc(blocks_ - 1u));  // blocks_ is a power of two
    else
      return t.let(block_idx_x() + 0u);
  }
  constexpr place find_index() const {
    thread t = t_;
    var head(t, row_), token(t, 0u), batch(t, 0u);
    if (auto deep = t.when(problem_[&rows_problem::is_flat] == 0u)) {
      const quotient of_heads = divide(t, row_, problem_[&rows_problem::heads]);
      const quotient of_tokens = divide(t, of_heads.whole, problem_[&rows_problem::tokens]);
      head = of_heads.rest;
      token = of_tokens.rest;
      batch = of_tokens.whole;
    }
    return {t.let(head), t.let(token), t.let(batch)};
  }

  place index_;

 protected:
  val<u32> begin_;
};

}  // namespace kaio::ops
