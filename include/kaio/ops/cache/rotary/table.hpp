#pragma once
// rotary_table: the cosines and sines of position * frequency. Frequencies are in half turns per position, in
// double precision, so the whole turns of an angle are exact. Only the fraction of the f64 product is
// rounded: at position 2^20 to 2^-33 of a half turn.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/cache/common/problem.hpp>
#include <kaio/ops/cache/common/sequences.hpp>
#include <kaio/ops/shared/any_element.hpp>

#include <cstdint>
#include <limits>

namespace kaio::ops {

inline constexpr std::uint32_t rotary_table_pairs = 32;  // pairs of a launch

struct rotary_table_problem {
  u64 cos, sin;
  i64 cos_row, sin_row;
  u64 first_position;
  token_numbers positions;  // (axes, rows), in place of first_position; positions.batch: stride of the axes
  u32 axis;                 // axis of this launch
  u32 rows;
  u32 first_pair, pair_step, pairs;  // pairs of this launch
  u32 type;                          // an element_type
  f64 factor;                        // factor of cos and sin
  f64 half_turns[rotary_table_pairs];
};

// A warp has a row, a lane a pair. Launched with a block for each eight rows.
inline constexpr auto rotary_table_rows =
    kaio::kernel<"rotary_table", 256>([](thread t, val<rotary_table_problem> problem) {
      const val lane = t.lane_rank();
      const val row = t.let(block_idx_x() * 8u + t.warp_rank());
      var half_turns(t, 0.0);
      for (u32 i = 0; i < rotary_table_pairs; ++i)
        half_turns = select(lane == i, problem[&rotary_table_problem::half_turns][i], half_turns);
      const val exists = t.let(
          all_of(row < problem[&rotary_table_problem::rows], lane < problem[&rotary_table_problem::pairs]));
      if (auto one = t.when(exists)) {
        var position(t, problem[&rotary_table_problem::first_position] + cast<u64>(row));
        const auto numbers = problem[&rotary_table_problem::positions];
        if (auto given = t.when(numbers[&token_numbers::address] != 0u))
          position = cast<u64>(number_of_token(t, numbers, t.let(problem[&rotary_table_problem::axis]), row));
        const val angle = t.let(cast<f64>(position) * half_turns);
        // A negative position is above the limit too.
        const val factor = t.let(select(position < u64{1} << 32, problem[&rotary_table_problem::factor],
                                        std::numeric_limits<f64>::quiet_NaN()));
        const val cosine = t.let(cast<f32>(cospi(angle) * factor));
        const val sine = t.let(cast<f32>(sinpi(angle) * factor));
        const val pair = t.let(cast<i64>(problem[&rotary_table_problem::first_pair] +
                                         lane * problem[&rotary_table_problem::pair_step]));
        with_any_element(t, t.let(problem[&rotary_table_problem::type]), [&]<class A>(A) {
          const auto store = [&](auto address, auto stride, const val<f32>& x) {
            const val at = t.let(cast<i64>(row) * problem[stride] + pair);
            const val stored = A::write(t, x);
            pointer_at<out<typename A::stored>>(t, t.let(problem[address]))[at] = stored;
          };
          store(&rotary_table_problem::cos, &rotary_table_problem::cos_row, cosine);
          store(&rotary_table_problem::sin, &rotary_table_problem::sin_row, sine);
        });
      }
    });

}  // namespace kaio::ops
