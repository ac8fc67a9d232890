#pragma once
// The epilogue of the kernels for sm_90a that round weights: sums go from registers to y, or with split-K to
// the workspace. A lane has two adjacent columns of each of its rows:
//
//   rows     2 (lane % 4) + {0, 1} + 8 i     i = 0, 1, ...
//   columns  2 (lane / 4) + {0, 1} of the warp's 16; eight lanes fill 32 bytes of a row
//
// The ring of x is not used, so that the copies of the next tile are under way meanwhile.

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
template <w4_sm90_config C, scalar T>
class w4_sm90_store {
 public:
  using accumulator = wgmma_accumulator<f32, C.rows>;
  static_assert(accumulator::row(2) == 8 && accumulator::column(2) == 0 && accumulator::column(8) == 16);

  constexpr w4_sm90_store(thread t, const val<w4_problem>& problem, const w4_sm90_tile& tile,
                          const val<u32>& warp)
      : t_(t),
        problem_(problem),
        is_part_(t.let(problem[&w4_problem::splits] != problem[&w4_problem::cluster])),
        row_(t.let(tile.row + t.lane_rank() % 4u * 2u)),
        column_(t.let(tile.column + warp * 16u + t.lane_rank() / 4u * 2u)),
        n_(t.let(select(is_part_, padded_n(), problem[&w4_problem::w][&w4_packed::n]))),
        left_n_(t.let(select(column_ < n_, n_ - column_, 0u))),
        end_(t.let(min(problem[&w4_problem::m], tile.row + w4_sm90_rows_of<C>(problem)))),
        left_m_(t.let(select(all_of(row_ < end_, left_n_ != 0u), end_ - row_, 0u))) {}

  // Stores the sums of a split of K to the workspace, all others plus the bias to y.
  constexpr void store(accumulator& sums, const val<u32>& split) const {
    add_bias(sums);
    const val is_f32 =
        t_.let(any_of(is_part_, problem_[&w4_problem::out_type] == static_cast<u32>(element_type::f32)));
    const val bytes = t_.let(select(is_f32, u64{4}, u64{2}));
    const val row = t_.let(select(is_part_, cast<i64>(padded_n()), problem_[&w4_problem::out_row]));
    const val pitch = t_.let(cast<u64>(row) * bytes);
    const val part =
        t_.let(problem_[&w4_problem::sums] + cast<u64>(split) * cast<u64>(problem_[&w4_problem::m]) * pitch);
    const val base = t_.let(select(is_part_, part, problem_[&w4_problem::out]));
    const val to = t_.let(base + cast<u64>(row_) * pitch + cast<u64>(column_) * bytes);
    const val pairs = t_.let(all_of(((to | pitch) & (bytes * u64{2} - u64{1})) == u64{0}, left_n_ > 1u));
    if (auto single = t_.when(is_f32)) store_as<f32>(sums, to, pitch, pairs);
    if (auto same = t_.otherwise()) store_as<T>(sums, to, pitch, pairs);
  }

 private:
  constexpr auto padded_n() const { return problem_[&w4_problem::w][&w4_packed::tiles_n] * w4_tile_n; }
  template <class Out>
  constexpr void store_as(const accumulator& sums, const val<u64>& to, const val<u64>& pitch,
                          const val<bool>& pairs) const {
    if (auto both = t_.when(pairs))
      for_rows(sums, to, pitch, [&](const auto& at, const auto& even, const auto& odd) {
        if constexpr (std::is_same_v<Out, f32>) {
          store_vec(pointer_at<out<f32>>(t_, at)[0], make_vec(even, odd));
        } else {
          const val words = t_.let(bit_cast<u32>(pack<typename w4_pair<T>::type>(even, odd)));
          pointer_at<out<u32>>(t_, at)[0] = words;
        }
      });
    if (auto single = t_.otherwise())
      for_rows(sums, to, pitch, [&](const auto& at, const auto& even, const auto& odd) {
        const auto y = pointer_at<out<Out>>(t_, at);
        y[0] = cast<Out>(even);
        if (auto second = t_.when(left_n_ > 1u)) y[1] = cast<Out>(odd);
      });
  }
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

  thread t_;
  const val<w4_problem>& problem_;
  val<bool> is_part_;      // the sums are of a split of K
  val<u32> row_, column_;  // the lane's first ones
  val<u32> n_;             // columns that have memory
  val<u32> left_n_;        // columns from there on
  val<u32> end_;           // the row after the block's last one
  val<u32> left_m_;        // rows from there on; 0: the lane stores nothing
};

}  // namespace kaio::ops
