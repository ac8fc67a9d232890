#pragma once
// Quantises weights to codes of four bits in groups, rounded to the nearest, packed as compressed-tensors
// does. `lanes` threads quantise one group in each of eight rows, row after row, because a word holds eight
// rows' zero points.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/shared/divisor.hpp>
#include <kaio/ops/weight_only/formats/load_numbers.hpp>

#include <cstdint>
#include <type_traits>

namespace kaio::ops {

struct quantise_w4_problem {
  u64 x;
  i64 x_row;  // in elements
  u32 type, x_by_16;
  u32 n, k;
  u32 group, lanes, lanes_log2, steps;
  u32 units;       // ceil(n / 8) * groups
  divisor groups;  // groups per row
  u64 codes;       // words: eight neighbours along k, the first lowest, code + 8
  i64 codes_row, codes_column;
  u64 scales;
  i64 scales_row, scales_column;
  u32 scales_type;  // an element_type: f16 or bf16
  u64 zeros;        // words: eight rows, the first lowest, zero point + 8; 0: symmetric
  i64 zeros_row, zeros_column;
};

inline constexpr u32 quantise_w4_threads = 128;

// Launched with `lanes` threads per unit.
inline constexpr auto quantise_w4_groups = kaio::kernel<"quantise_w4", block_size{quantise_w4_threads},
                                                        kernel_options{.contract = false, .min_blocks = 8}>(
    [](thread t, val<quantise_w4_problem> p) {
      using problem = quantise_w4_problem;
      const val index = t.global_id(), lanes = t.let(p[&problem::lanes]);
      const val unit = t.let(index >> p[&problem::lanes_log2]), lane = t.let(index & (lanes - 1u));
      const val exists = t.let(unit < p[&problem::units]);
      const quotient place = divide(t, t.let(min(unit, p[&problem::units] - 1u)), p[&problem::groups]);
      const val first = t.let(place.rest * p[&problem::group]);
      const val end = t.let(first + p[&problem::group]);
      const val n = t.let(p[&problem::n]), type = t.let(p[&problem::type]), steps = t.let(p[&problem::steps]);
      const val x_at = t.let(p[&problem::x]);
      const val by_16 = t.let(p[&problem::x_by_16] != 0u);
      const val asymmetric = t.let(p[&problem::zeros] != u64{0});
      const val is_first = t.let(all_of(exists, lane == 0u));
      var<u32> zero_word(t, 0u);
      for (auto r : t.range(0u, 8u)) {
        const val row = t.let(place.whole * 8u + r);
        const val has_row = t.let(all_of(exists, row < n));
        const val limit = t.let(select(has_row, end, first));
        const val x_row = t.let(cast<i64>(row) * p[&problem::x_row]);
        const auto load = [&](const val<u32>& step, eight_numbers& x) {
          const val column = t.let(first + (step * lanes + lane) * 8u);
          const val count = t.let(select(column < limit, min(limit - column, 8u), 0u));
          load_numbers(t, x_at, type, t.let(x_row + cast<i64>(column)), count, by_16, x);
          return column;
        };
        var<f32> low(t, 0.0f), high(t, 0.0f);
        for (auto step : t.range(0u, steps)) {
          auto x = no_numbers(t);
          load(step, x);
          for (u32 i = 0; i < 8; ++i) {
            low = min(low, x[i]);
            high = max(high, x[i]);
          }
        }
        const val lowest = reduce_lanes(t, t.let(low), lanes,
                                        [](const val<f32>& a, const val<f32>& b) { return min(a, b); });
        const val highest = reduce_lanes(t, t.let(high), lanes,
                                         [](const val<f32>& a, const val<f32>& b) { return max(a, b); });
        const val largest = t.let(max(-lowest, highest));
        const val wanted = t.let(select(asymmetric, (highest - lowest) / 15.0f, largest / 7.5f));
        var<f32> scale(t, 1.0f);
        with_any_element(t, t.let(p[&problem::scales_type]), [&]<class A>(A) {
          if constexpr (!std::is_same_v<A, detail::stored_f32>) {
            const val kept = A::write(t, wanted);
            const val number = t.let(A::read(kept));
            const val one = A::write(t, t.let(1.0f));
            const val is_zero = t.let(number == 0.0f);
            scale = select(is_zero, 1.0f, number);
            if (auto stores = t.when(all_of(is_first, has_row))) {
              const val at = t.let(cast<i64>(row) * p[&problem::scales_row] +
                                   cast<i64>(place.rest) * p[&problem::scales_column]);
              const val stored = t.let(select(is_zero, one, kept));
              const auto to = pointer_at<out<typename A::stored>>(t, t.let(p[&problem::scales]));
              to[at] = stored;
            }
          }
        });
        const val by = t.let(scale);
        var<f32> zero(t, 0.0f);
        if (auto moved = t.when(asymmetric)) {
          const val nearest = t.let(rint(-8.0f - lowest / by));
          zero = min(max(nearest, -8.0f), 7.0f);
          const val code = t.let(cast<u32>(cast<i32>(zero) + 8));
          zero_word |= select(has_row, code << (r * 4u), 0u);
        }
        const val plus = t.let(zero);
        for (auto step : t.range(0u, steps)) {
          auto x = no_numbers(t);
          const val column = load(step, x);
          var<u32> word(t, 0u);
          for (u32 i = 0; i < 8; ++i) {
            const val nearest = t.let(cast<i32>(min(max(x[i] / by + plus, -8.0f), 7.0f), round_nearest));
            word |= select(column + i < limit, cast<u32>(nearest + 8), 0u) << (4 * i);
          }
          if (auto stores = t.when(column < limit)) {
            const val at = t.let(cast<i64>(row) * p[&problem::codes_row] +
                                 cast<i64>(column / 8u) * p[&problem::codes_column]);
            const val all = t.let(word);
            const auto to = pointer_at<out<u32>>(t, t.let(p[&problem::codes]));
            to[at] = all;
          }
        }
      }
      if (auto stores = t.when(all_of(is_first, asymmetric))) {
        const val at = t.let(cast<i64>(place.whole) * p[&problem::zeros_row] +
                             cast<i64>(place.rest) * p[&problem::zeros_column]);
        const val all = t.let(zero_word);
        const auto to = pointer_at<out<u32>>(t, t.let(p[&problem::zeros]));
        to[at] = all;
      }
    });

}  // namespace kaio::ops
