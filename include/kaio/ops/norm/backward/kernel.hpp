#pragma once
// dx of rms_norm and layer_norm, and sums over rows for the gradients of weight and bias, from one reading of
// x and dy. A block, or a cluster, has a group of rows, then the group `stride` further on:
//
//   wait for x, dy   [mean]   sums of (x - mean)^2, g, g (x - mean)   dx; sums over rows; next copies
//
// with g = dy * (weight_offset + weight). Each piece of the next group is copied as soon as its slot is free.

#include <kaio/ops/norm/backward/problem.hpp>
#include <kaio/ops/norm/backward/stage.hpp>
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
    row_pairs<T, Sm, Vectors, std::remove_const_t<decltype(rows)>> stage(t, rows);
    row_reducer<Sm, 3> reduce(t, stage.lanes(), stage.blocks());
    const val weight_sums = t.let(problem[&p_::weight_sums]), bias_sums = t.let(problem[&p_::bias_sums]);
    const val of_weight = t.let(select(weight_sums != u64{0}, 1u, 0u));
    const val sums = t.let(of_weight + select(bias_sums != u64{0}, 1u, 0u));
    stage.clear_sums(sums);
    const val is_centred = t.let(problem[&p_::is_centred] != 0u);
    const val adds = t.let(problem[&p_::dh][&row_strides::address] != u64{0});
    const val count = t.let(cast<f32>(stage.size()));
    const val groups = t.let(problem[&p_::groups]);
    const val cluster = t.let(block_idx_x() / stage.blocks());
    const val stride = t.let(grid_dim_x() / stage.blocks());
    if constexpr (Sm >= 90) {
      launch_dependents(t);
      grid_dependency_wait(t);
    }
    var group(t, cluster);
    const val first_row = stage.row_in(cluster);
    var exists(t, stage.exists(first_row));
    var x(t, stage.address(first_row, problem[&p_::x])), dy(t, stage.address(first_row, problem[&p_::dy]));
    const auto copy_row = [&] {
      const val from_x = t.let(x), from_dy = t.let(dy);
      stage.each(t.let(exists), [&](const staged_piece& p) { stage.copy(from_x, from_dy, p); });
    };
    if constexpr (stage.has_copies) copy_row();
    for (auto step : t.loop()) {
      step.break_if(group >= groups);
      if constexpr (stage.has_copies)
        cp_async_wait_all(t);
      else
        copy_row();
      const val row = stage.row_in(t.let(group));
      const val here = t.let(exists);
      const val x_row = t.let(x), dy_row = t.let(dy);
      var mean(t, 0.0f), squares(t, 0.0f), gradients(t, 0.0f), products(t, 0.0f);
      if (auto of_layer = t.when(is_centred)) {
        var sum(t, 0.0f);
        stage.each(here, [&](const staged_piece& p) {
          const auto own = stage.template piece<false>(x_row, p);
          for (u32 i = 0; i < width; ++i) {
            const val one = words::value(t, own, i);
            sum += one;
          }
        });
        const val total = reduce.sum(t.let(sum));
        mean = total / count;
      }
      const val middle = t.let(mean);
      const val dh_row = stage.address(row, problem[&p_::dh]);
      stage.each(here, [&](const staged_piece& p) {
        if (auto soon = t.when(adds)) stage.prefetch_piece(dh_row, p);
        const auto own = stage.template piece<false>(x_row, p);
        const auto g = weighted(t, stage, problem, p, stage.template piece<true>(dy_row, p));
        for (u32 i = 0; i < width; ++i) {
          const val one = words::value(t, own, i);
          const val distance = stage.or_zero(p, i, t.let(one - middle));
          squares = fma(distance, distance, squares);
          gradients += g[i];
          products = fma(g[i], distance, products);
        }
      });
      const auto own_sums = array_of<3>([&](u32 i) {
        return t.let(i == 0 ? squares : i == 1 ? products : gradients);
      });
      const auto of_row = reduce.template sums<3>(own_sums);
      const val inverse = t.let(rsqrt(of_row[0] / count + problem[&p_::epsilon]));
      const val along = t.let(of_row[1] * inverse / count);  // the mean of g * y
      const val shift = t.let(select(is_centred, of_row[2] / count, 0.0f));
      const val statistics = t.let(problem[&p_::statistics]);
      const val is_first = t.let(all_of(here, stage.lane() == 0u, stage.block() == 0u));
      if (auto keeps = t.when(all_of(statistics != u64{0}, is_first)))
        pointer_at<out<f32x2>>(t, statistics)[row] = make_vec(middle, inverse);

      group += stride;
      const val next = stage.row_in(t.let(group));
      const val next_is_row = stage.exists(next);
      exists = all_of(group < groups, next_is_row);
      x = stage.address(next, problem[&p_::x]);
      dy = stage.address(next, problem[&p_::dy]);
      const val next_exists = t.let(exists);
      const val next_x = t.let(x), next_dy = t.let(dy);
      const val dx_row = stage.address(row, problem[&p_::dx]);
      stage.each(here, [&](const staged_piece& p) {
        const auto own = stage.template piece<false>(x_row, p);
        const auto upstream = stage.template piece<true>(dy_row, p);
        if constexpr (stage.has_copies)
          if (auto more = t.when(next_exists)) stage.copy(next_x, next_dy, p);
        const auto g = weighted(t, stage, problem, p, upstream);
        const auto y = array_of<width>([&](u32 i) {
          const val one = words::value(t, own, i);
          return t.let((one - middle) * inverse);
        });
        auto dx = array_of<width>([&](u32 i) {
          const val less = t.let(g[i] - shift);
          return var(t, fma(-y[i], along, less) * inverse);
        });
        if (auto joins = t.when(adds)) {
          auto more = words::zeros(t);
          stage.load(dh_row, p, more);
          for (u32 i = 0; i < width; ++i) {
            const val one = words::value(t, more, i);
            dx[i] = dx[i] + one;
          }
        }
        const auto bits = words::rounded(t, dx);
        stage.store(dx_row, p, bits);
        const auto of_dy = words::values(t, upstream);
        if (auto wants = t.when(weight_sums != u64{0}))
          stage.add(p, 0u, array_of<width>([&](u32 i) { return t.let(of_dy[i] * y[i]); }));
        if (auto wants = t.when(bias_sums != u64{0})) stage.add(p, of_weight, of_dy);
      });
    }
    for (auto which : t.range(0u, sums).no_unroll()) {
      const val is_bias = t.let(all_of(bias_sums != u64{0}, which == of_weight));
      const val to = t.let(select(is_bias, bias_sums, weight_sums));
      stage.store_sums(which, to, cluster);
    }
  }

 private:
  // dy * (weight_offset + weight) of a piece.
  template <class Stage, class Problem, class Words>
  static constexpr auto weighted(thread t, Stage& stage, const Problem& problem, const staged_piece& p,
                                 const Words& dy) {
    using p_ = norm_backward_problem;
    auto g = array_of<width>([&](u32 i) {
      const val one = words::value(t, dy, i);
      return var(t, one);
    });
    const val weight = t.let(problem[&p_::weight]);
    if (auto given = t.when(weight != u64{0})) {
      const val offset = t.let(problem[&p_::weight_offset]);
      const val is_f32 = t.let(problem[&p_::is_weight_f32] != 0u);
      auto by = array_of<width>([&](u32) { return var(t, 0.0f); });
      if (auto single = t.when(is_f32)) stage.load_f32(weight, p, by);
      if constexpr (!std::is_same_v<T, f32>) {
        if (auto own = t.when(!is_f32)) {
          auto bits = words::zeros(t);
          stage.load(weight, p, bits);
          for (u32 i = 0; i < width; ++i) by[i] = words::value(t, bits, i);
        }
      }
      for (u32 i = 0; i < width; ++i) g[i] = g[i] * (offset + by[i]);
    }
    return g;
  }
};

// Launched by a norm_backward_plan.
template <dsl::scalar T, std::uint32_t Sm, bool Vectors>
inline constexpr auto norm_backward_rows =
    kaio::kernel<"norm_backward_" + type_name<T> + "_sm" + decimal<Sm> + row_kernel_suffix<Vectors>,
                 row_threads, kernel_options{.target = {Sm, false}, .min_blocks = 3u}>(
        [](thread t, val<norm_backward_problem> problem) {
          norm_backward_body<T, Sm, Vectors>::run(t, problem);
        });

}  // namespace kaio::ops
