#pragma once
// dx of rms_norm and layer_norm, and sums over rows for the gradients of weight and bias, from one reading of
// x and dy. A block, or a cluster, has a group of rows, then the group `stride` further on:
//
//   has_copies   copies   sums of (x - mean)^2, g, g (x - mean)   sum of the next x   dx; sums over rows; copies
//   otherwise    loads   [sum of x]   sums of (x - mean)^2, g, g (x - mean)   dx; sums over rows
//
// with g = dy * (weight_offset + weight). With copies, a block holds two rows of dy and two or three of x
// (stage.hpp): each piece of the row after the next one is copied as soon as its slot is free. The next row's mean
// is found together with the sums of this row, so that a row has one barrier.

#include <kaio/ops/norm/backward/factors.hpp>
#include <kaio/ops/norm/backward/problem.hpp>
#include <kaio/ops/norm/backward/stage.hpp>
#include <kaio/ops/norm/backward/sums.hpp>
#include <kaio/ops/rows/reduce.hpp>

#include <cstdint>
#include <type_traits>

namespace kaio::ops {

template <dsl::scalar T, std::uint32_t Sm, bool Vectors>
struct norm_backward_body {
  using words = row_words<T, Sm>;
  static constexpr u32 width = words::width;

  static constexpr void run(thread t, const val<norm_backward_problem>& problem) {
    using p_ = norm_backward_problem;
    const auto rows = problem[&p_::rows];
    using pairs = row_pairs<T, Sm, Vectors, std::remove_const_t<decltype(rows)>>;
    pairs stage(t, rows);
    row_reducer<Sm, 4, (Sm >= 90)> reduce(t, stage.lanes(), stage.blocks());
    const val weight_sums = t.let(problem[&p_::weight_sums]), bias_sums = t.let(problem[&p_::bias_sums]);
    row_sums sums(t, stage, weight_sums, bias_sums);
    const val is_centred = t.let(problem[&p_::is_centred] != 0u);
    const val adds = t.let(problem[&p_::dh][&row_strides::address] != u64{0});
    // Rounds of a loop: ptxas would turn a branch into predicated instructions, which take their time.
    const val addends = t.let(select(adds, 1u, 0u));
    const val count = t.let(cast<f32>(stage.size()));
    const val share = t.let(1.0f / count);  // the mean of x is a quotient: that of equal numbers is exact
    const val groups = t.let(problem[&p_::groups]);
    const val has_third_x = t.let(problem[&p_::has_third_x] != 0u);
    const val cluster = t.let(block_idx_x() / stage.blocks());
    const val stride = t.let(grid_dim_x() / stage.blocks());
    if constexpr (Sm >= 90) {
      launch_dependents(t);
      grid_dependency_wait(t);
    }
    // The row to copy next, or to load.
    var next(t, cluster);
    var next_x(t, u64{0}), next_dy(t, u64{0});
    var next_exists(t, cluster < groups);
    const auto find_next = [&] {
      const pair_row row = stage.row_of(t.let(next + 0u), groups);
      next_exists = row.exists;
      next_x = stage.address(row, problem[&p_::x]);
      next_dy = stage.address(row, problem[&p_::dy]);
      next += stride;
    };
    const auto copy_next = [&] {
      const val x = t.let(next_x), dy = t.let(next_dy);
      stage.each_near(t.let(next_exists), [&](const staged_piece& p) {
        if constexpr (pairs::has_far && !pairs::has_copies) {
          if (auto held = t.when(stage.is_held(p))) stage.copy(x, dy, p);
        } else {
          stage.copy(x, dy, p);
        }
      });
    };
    // A row has two groups of copies: x, which is empty if x has two stages; then dy, or both.
    if constexpr (pairs::has_copies) {
      for ([[maybe_unused]] auto of_stage : t.range(0u, pair_stages).no_unroll()) {
        find_next();
        copy_next();
        cp_async_commit_group(t);
        cp_async_commit_group(t);
        stage.advance(stage.x_stages(has_third_x)[1]);
      }
      stage.begin();
    } else {
      find_next();
    }
    norm_factors factors(t, stage, problem);
    if constexpr (Sm >= 90) reduce.begin();
    var group(t, cluster);
    var mean(t, 0.0f);
    const auto mean_of = [&](const val<bool>& exists, const auto& x_row) {
      var result(t, 0.0f);
      if (auto of_layer = t.when(is_centred)) {
        var sum(t, 0.0f);
        stage.each(exists, [&](const staged_piece& p, auto where) {
          const auto own = stage.template piece<false>(x_row, p, where);
          for (u32 i = 0; i < width; ++i) {
            const val one = words::value(t, own, i);
            sum += one;
          }
        });
        const auto total = reduce.template sums<1>(array_of<1>([&](u32) { return t.let(sum); }));
        result = total[0] / count;
      }
      return t.let(result);
    };
    if constexpr (pairs::has_copies) {
      cp_async_wait_group<2>(t);
      const pair_row row = stage.row_of(cluster, groups);
      mean = mean_of(row.exists, [&] { return stage.address(row, problem[&p_::x]); });
    }
    for (auto step : t.loop()) {
      step.break_if(group >= groups);
      const pair_row row = stage.row_of(t.let(group + 0u), groups);
      const val here = row.exists;
      // Where pieces in global memory are. With copies, few rows have them: each use finds its address anew.
      const auto line_of = [&](const auto& tensor) {
        if constexpr (pairs::has_copies) {
          return [&stage, &row, tensor] { return stage.address(row, tensor); };
        } else {
          const val line = pairs::has_far ? stage.address(row, tensor) : t.let(val<u64>(u64{0}));
          return [line] { return line; };
        }
      };
      const auto x_row = line_of(problem[&p_::x]), dy_row = line_of(problem[&p_::dy]);
      const val follows = t.let(all_of(is_centred, next_exists));
      const auto x_stages = stage.x_stages(has_third_x);
      if constexpr (pairs::has_copies) {
        find_next();
        const val x = t.let(next_x);
        stage.each_near(t.let(all_of(has_third_x, next_exists)),
                        [&](const staged_piece& p) { stage.copy_x(x, p, x_stages[2]); });
        cp_async_commit_group(t);
        cp_async_wait_group<3>(t);  // the next x and dy, and the x after it, may be on their way
      } else {
        copy_next();
        find_next();
        stage.prefetch_row(t.let(next_exists), t.let(next_x));
        stage.prefetch_row(t.let(next_exists), t.let(next_dy));
        mean = mean_of(here, x_row);
      }
      var squares(t, 0.0f), gradients(t, 0.0f), products(t, 0.0f), sum_ahead(t, 0.0f);
      const val middle = t.let(mean);
      var dh_line(t, u64{0});
      if (auto joins = t.when(adds)) dh_line = stage.address(row, problem[&p_::dh]);
      const val dh_row = t.let(dh_line);
      stage.each(here, [&](const staged_piece& p, auto where) {
        if (auto soon = t.when(adds)) stage.prefetch_piece(dh_row, p);
        const auto own = stage.template piece<false>(x_row, p, where);
        const auto upstream = stage.template piece<true>(dy_row, p, where);
        const auto by = factors.of(p, where);
        for (u32 i = 0; i < width; ++i) {
          const val one = words::value(t, own, i), of_dy = words::value(t, upstream, i);
          const val distance = stage.or_zero(p, i, t.let(one - middle));
          const val g = t.let(of_dy * by[i]);
          squares = fma(distance, distance, squares);
          gradients += g;
          products = fma(g, distance, products);
        }
      });
      // Warps that have rows of their own, and thus no barrier, wait too: memory is faster if they keep in step.
      if constexpr (pairs::has_copies) {
        if (auto waits = t.when(any_of(is_centred, stage.lanes() <= 32u))) {
          cp_async_wait_group<2>(t);  // the next dy, and the x after the next one
          if (auto late = t.when(!has_third_x)) cp_async_wait_all(t);
        }
        stage.each_near(follows, [&](const staged_piece& p) {
          const auto ahead = stage.x_ahead(p, x_stages[1]);
          for (u32 i = 0; i < width; ++i) {
            const val one = words::value(t, ahead, i);
            sum_ahead += one;
          }
        });
      }
      constexpr u32 numbers = pairs::has_copies ? 4 : 3;
      const auto own_sums = array_of<numbers>([&](u32 i) {
        return t.let(i == 0 ? squares : i == 1 ? products : i == 2 ? gradients : sum_ahead);
      });
      const auto of_row = reduce.template sums<numbers>(own_sums);
      if constexpr (pairs::has_copies) {
        if (auto of_layer = t.when(is_centred)) mean = of_row[3] / count;
      }
      const val inverse = t.let(rsqrt(fma(of_row[0], share, problem[&p_::epsilon])));
      // dx = dy * inverse * factor + (x - mean) * slope + shift, where the mean of g * y is
      const val along = t.let(of_row[1] * inverse * share);
      const val slope = t.let(-along * inverse * inverse);
      const val shift = t.let(select(is_centred, -(of_row[2] * share) * inverse, 0.0f));
      const val statistics = t.let(problem[&p_::statistics]);
      const val is_first = t.let(all_of(here, stage.lane() == 0u, stage.block() == 0u));
      if (auto keeps = t.when(all_of(statistics != u64{0}, is_first)))
        pointer_at<out<f32x2>>(t, statistics)[row.row] = make_vec(middle, inverse);

      group += stride;
      const val to_copy = t.let(next_exists);
      const val copy_x = t.let(next_x), copy_dy = t.let(next_dy);
      const val dx_row = stage.address(row, problem[&p_::dx]);
      const auto finish = [&](const staged_piece& p, u32 round, auto where) {
        const auto own = stage.template piece<false>(x_row, p, where);
        const auto upstream = stage.template piece<true>(dy_row, p, where);
        if constexpr (decltype(where)::value == piece_place::held)
          if (auto more = t.when(to_copy)) {
            if (auto late = t.when(!has_third_x)) stage.copy_x(copy_x, p, x_stages[0]);
            stage.copy_dy(copy_dy, p);
          }
        const auto by = factors.of(p, where);
        const auto of_dy = words::values(t, upstream);
        const auto scaled = array_of<width>([&](u32 i) { return t.let(of_dy[i] * inverse); });
        const auto distance = array_of<width>([&](u32 i) {
          const val one = words::value(t, own, i);
          return t.let(one - middle);
        });
        auto dx = array_of<width>(
            [&](u32 i) { return var(t, fma(scaled[i], by[i], fma(distance[i], slope, shift))); });
        for ([[maybe_unused]] auto joins : t.range(0u, addends).no_unroll()) {
          const auto more = stage.loaded(dh_row, p);
          for (u32 i = 0; i < width; ++i) {
            const val one = words::value(t, more, i);
            dx[i] = dx[i] + one;
          }
        }
        const auto bits = words::rounded(t, dx);
        stage.store(dx_row, p, bits);
        sums.add(p, round, of_dy, scaled, distance);
      };
      if constexpr (pairs::has_copies) {
        stage.each_round(here, [&](const staged_piece& p, u32 round) { finish(p, round, in_shared); });
        stage.each_far(here, [&](const staged_piece& p) { finish(p, pairs::rounds, in_global); });
        cp_async_commit_group(t);
        stage.advance(x_stages[1]);
      } else {
        stage.each_near(here, [&](const staged_piece& p) { finish(p, 0, in_either); });
      }
    }
    sums.store(cluster);
    if constexpr (Sm >= 90) reduce.end();
  }
};

// Launched by a norm_backward_plan.
template <dsl::scalar T, std::uint32_t Sm, bool Vectors>
inline constexpr auto norm_backward_rows =
    kaio::kernel<"norm_backward_" + type_name<T> + "_sm" + decimal<Sm> + row_kernel_suffix<Vectors>,
                 row_threads,
                 kernel_options{.target = {Sm, false}, .min_blocks = Vectors || Sm < 80 ? 2u : 3u}>(
        [](thread t, val<norm_backward_problem> problem) {
          norm_backward_body<T, Sm, Vectors>::run(t, problem);
        });

}  // namespace kaio::ops
