#pragma once
// The epilogue of the kernels for sm_90a that round weights: sums go from registers to y, or with split-K to
// the workspace. A lane has two adjacent columns of each of its rows:
//
//   rows     2 (lane % 4) + {0, 1} + 8 i     i = 0, 1, ...
//   columns  2 (lane / 4) + {0, 1} of the warp's 16; eight lanes fill 32 bytes of a row
//
// Numbers of four bytes go from the registers to global memory. Numbers of two bytes are put in order in shared memory
// first: a row of a warpgroup's 64 columns is a line of 128 bytes, which one instruction writes as a whole. The lines
// take the place of x of the last step. Copies for the next tile go to all other stages meanwhile. Pieces of 16 bytes
// of a line change places, so that the lanes of a warp use all banks:
//
//   piece p of row r is at p xor (r & 6)

#include <kaio/dsl/async.hpp>
#include <kaio/dsl/block.hpp>
#include <kaio/dsl/dsl.hpp>
#include <kaio/dsl/mma/wgmma.hpp>
#include <kaio/ops/shared/element_type.hpp>
#include <kaio/ops/weight_only/common/decode.hpp>
#include <kaio/ops/weight_only/common/problem.hpp>
#include <kaio/ops/weight_only/mma_sync/store.hpp>
#include <kaio/ops/weight_only/sm90/config.hpp>
#include <kaio/ops/weight_only/sm90/shared.hpp>

#include <cstdint>

namespace kaio::ops {

// For integers: neither a unit of the decoder nor column factors.
template <w4_sm90_config C, class D, scalar T>
class w4_sm90_store {
 public:
  using accumulator = wgmma_accumulator<f32, C.rows>;
  using shared_memory = w4_sm90_stages<C, D, T>;
  static_assert(accumulator::row(2) == 8 && accumulator::column(2) == 0 && accumulator::column(8) == 16);

  constexpr w4_sm90_store(thread t, const val<w4_problem>& problem, const w4_sm90_tile& tile,
                          const val<u32>& warp)
      : t_(t),
        problem_(problem),
        tile_(tile),
        warp_(warp),
        is_part_(t.let(problem[&w4_problem::splits] != problem[&w4_problem::cluster])),
        n_(t.let(select(is_part_, padded_n(), problem[&w4_problem::w][&w4_packed::n]))),
        rows_(t.let(min(problem[&w4_problem::m] - tile.row, w4_sm90_rows_of<C>(problem)))),
        row_(t.let(t.lane_rank() % 4u * 2u)),
        column_(t.let(tile.column + warp * 16u + t.lane_rank() / 4u * 2u)),
        left_n_(t.let(left_of(column_))),
        left_m_(t.let(select(all_of(row_ < rows_, left_n_ != 0u), rows_ - row_, 0u))) {}

  // Stores the sums of a split of K to the workspace, all others plus the bias to y. line: the first one in shared
  // memory for the results of the warpgroup. Calls release() when the last step's stages are free.
  template <class Release>
  constexpr void store(accumulator& sums, const shared_memory& shared, const val<u32>& line,
                       const Release& release) const {
    add_bias(sums);
    const val is_f32 =
        t_.let(any_of(is_part_, problem_[&w4_problem::out_type] == static_cast<u32>(element_type::f32)));
    if (auto direct = t_.when(is_f32)) {
      release();
      store_f32(sums);
    }
    if (auto staged = t_.otherwise()) {
      const auto results = shared.line(line)[0];
      const named_barrier<1> all(t_, C.consumers * 128);
      all.sync();  // all products have read x
      put_in_order(sums, results);
      if constexpr (C.consumers == 1)
        all.sync();
      else
        named_barrier(t_, t_.let(warp_ / 4u + 2u), 128).sync();
      copy_results(results);
      fence_proxy_async(t_);
      release();
    }
  }

 private:
  static constexpr u32 line_words = shared_memory::line_words, piece_words = 4;
  static_assert(line_words * 2 == 64, "kaio: a line has the results of a warpgroup's 64 columns");

  constexpr auto padded_n() const { return problem_[&w4_problem::w][&w4_packed::tiles_n] * w4_tile_n; }
  // Columns that have memory, from this one on.
  constexpr auto left_of(const val<u32>& column) const { return select(column < n_, n_ - column, 0u); }

  constexpr void add_bias(accumulator& sums) const {
    const val bias = t_.let(problem_[&w4_problem::bias]);
    if (auto has = t_.when(all_of(bias != u64{0}, left_m_ != 0u, !is_part_))) {
      const auto from = pointer_at<in<T>>(t_, bias);
      const val even = t_.let(cast<f32>(from[column_]));
      const val odd = t_.let(cast<f32>(from[column_ + min(left_n_ - 1u, 1u)]));
      // By sixteen rows: no product wrote the sums of rows that the launch left out.
      for (u32 i = 0; i < accumulator::size(); i += 8)
        if (auto some = t_.when(left_m_ > accumulator::column(i)))
          for (u32 j = i; j < i + 8; ++j) sums[j] += accumulator::row(j) == 0 ? even : odd;
    }
  }

  constexpr void store_f32(const accumulator& sums) const {
    const val row = t_.let(select(is_part_, cast<i64>(padded_n()), problem_[&w4_problem::out_row]));
    const val pitch = t_.let(cast<u64>(row) * u64{4});
    const val part = t_.let(problem_[&w4_problem::sums] +
                            cast<u64>(tile_.split) * cast<u64>(problem_[&w4_problem::m]) * pitch);
    const val base = t_.let(select(is_part_, part, problem_[&w4_problem::out]));
    const val to = t_.let(base + cast<u64>(tile_.row + row_) * pitch + cast<u64>(column_) * u64{4});
    const val pairs = t_.let(all_of(((to | pitch) & u64{7}) == u64{0}, left_n_ > 1u));
    if (auto both = t_.when(pairs))
      for_rows(sums, to, pitch, [&](const auto& at, const auto& even, const auto& odd) {
        store_vec(pointer_at<out<f32>>(t_, at)[0], make_vec(even, odd));
      });
    if (auto single = t_.otherwise())
      for_rows(sums, to, pitch, [&](const auto& at, const auto& even, const auto& odd) {
        const auto y = pointer_at<out<f32>>(t_, at);
        y[0] = even;
        if (auto second = t_.when(left_n_ > 1u)) y[1] = odd;
      });
  }
  // Calls f(address, sums of both columns) for each row that exists.
  template <class F>
  constexpr void for_rows(const accumulator& sums, const val<u64>& to, const val<u64>& pitch,
                          const F& f) const {
    var at(t_, to);
    const val to_next = t_.let(pitch * u64{7});
    for (u32 i = 0; i < accumulator::size(); ++i) {
      if (accumulator::row(i) != 0) continue;
      if (i != 0) at += i % 4 == 1 ? pitch : to_next;
      if (auto exists = t_.when(left_m_ > accumulator::column(i))) f(at, sums[i], sums[i + 2]);
    }
  }

  // Writes the results of the lane's rows to lines of shared memory, by sixteen rows.
  template <class Words>
  constexpr void put_in_order(const accumulator& sums, const Words& results) const {
    const val lane = t_.let(t_.lane_rank());
    const val piece = t_.let((warp_ % 4u * 2u + lane / 16u) ^ row_);
    const val first = t_.let(row_ * line_words + piece * piece_words + lane / 4u % 4u);
    for (u32 i = 0; i < accumulator::size(); i += 8)
      if (auto some = t_.when(rows_ > accumulator::column(i)))
        for (u32 j = i; j < i + 8; ++j)
          if (accumulator::row(j) == 0)
            results[first + accumulator::column(j) * line_words] =
                t_.let(bit_cast<u32>(pack<typename w4_pair<T>::type>(sums[j], sums[j + 2])));
  }
  // Copies the lines of the warpgroup to y, by 16 bytes if all of a row's columns and its address allow that.
  template <class Words>
  constexpr void copy_results(const Words& results) const {
    const val pitch = t_.let(cast<u64>(problem_[&w4_problem::out_row]) * u64{2});
    const val column = t_.let(tile_.column + warp_ / 4u * 64u), left = t_.let(left_of(column));
    const val to =
        t_.let(problem_[&w4_problem::out] + cast<u64>(tile_.row) * pitch + cast<u64>(column) * u64{2});
    const val bits = t_.let(cast<u32>(to | pitch));
    if (auto pieces = t_.when(((bits | left * 2u) & 15u) == 0u))
      for_lines<piece_words>(results, to, pitch, left, [&](const auto& from, const auto& at, const auto&) {
        store_vec(pointer_at<out<u32>>(t_, at)[0], load_vec<piece_words>(from));
      });
    if (auto words = t_.otherwise()) {
      const val are_words = t_.let((bits & 3u) == 0u);
      for_lines<1>(results, to, pitch, left, [&](const auto& from, const auto& at, const auto& has_second) {
        const val both = t_.let(from);
        if (auto word = t_.when(all_of(are_words, has_second))) pointer_at<out<u32>>(t_, at)[0] = both;
        if (auto numbers = t_.otherwise()) {
          const auto y = pointer_at<out<u16>>(t_, at);
          y[0] = cast<u16>(both);
          if (auto second = t_.when(has_second)) y[1] = cast<u16>(both >> 16u);
        }
      });
    }
  }
  // Calls f(words in shared memory, address in y, whether the second column exists) for the lane's Words words of
  // each line that it takes part in.
  template <u32 Words, class Results, class F>
  constexpr void for_lines(const Results& results, const val<u64>& to, const val<u64>& pitch,
                           const val<u32>& left, const F& f) const {
    constexpr u32 lanes = line_words / Words;
    const val rank = t_.let(t_.thread_rank() % 128u), word = t_.let(rank % lanes * Words);
    const val has_second = t_.let(left > word * 2u + 1u);
    const val lines = t_.let(select(left > word * 2u, rows_, 0u));
    const val from = t_.let(to + cast<u64>(word) * u64{4});
    for (auto i : t_.range(rank / lanes, lines, 128 / lanes)) {
      const val row = t_.let(i);
      const val piece = t_.let(word / piece_words ^ (row & 6u));
      f(results[row * line_words + piece * piece_words + word % piece_words],
        t_.let(from + cast<u64>(row) * pitch), has_second);
    }
  }

  thread t_;
  const val<w4_problem>& problem_;
  const w4_sm90_tile& tile_;
  const val<u32>& warp_;
  val<bool> is_part_;  // the sums are of a split of K
  val<u32> n_;         // columns that have memory
  val<u32> rows_;      // of the block
  val<u32> row_;       // the lane's first one in the block
  val<u32> column_;    // the lane's first one in y
  val<u32> left_n_;    // columns from there on
  val<u32> left_m_;    // rows of the block from there on; 0: the lane has nothing to store
};

}  // namespace kaio::ops
