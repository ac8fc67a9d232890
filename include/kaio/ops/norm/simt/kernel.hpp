#pragma once
// rms_norm and layer_norm of a staged row (rows/stage.hpp), in one kernel:
//
//   [h = x + residual, stored]   [mean of h]   squares of h - mean   y = (h - mean) * inverse * weight + bias
//
// One pass finds mean and squares. A thread takes its n numbers relative to one of them, o, so a large mean costs no
// digits. With d = h - o and e = o - mean:
//
//   mean = sum over threads of (n o + sum of d) / size     squares = sum of d^2 + e (n e + 2 sum of d)
//
// The last line cancels at most the factor n, if o is far from the thread's other numbers: (o - their mean)^2 is at most n
// times their variance. Source: Chan, Golub and LeVeque, "Algorithms for Computing the Sample Variance", 1983.

#include <kaio/ops/norm/common/problem.hpp>
#include <kaio/ops/rows/reduce.hpp>
#include <kaio/ops/rows/stage.hpp>

#include <cstdint>

namespace kaio::ops {

// Where a row's h is, and its statistics.
struct norm_statistics {
  val<u64> from;  // the row of far pieces
  val<f32> mean, inverse;
};

// Steps of the kernels, for a row_stage and its row_reducer.
template <class Stage>
struct norm_steps {
  // changes: h is not x. make(piece, x, its elements) is h of a piece. Far pieces of h are left where the kernel may
  // write, in residual_out or in out.
  template <class Reduce, class Norm, class Make>
  static constexpr norm_statistics find(thread t, Stage& stage, Reduce& reduce, const Norm& norm,
                                        const val<bool>& changes, const Make& make) {
    var line(t, stage.address());
    if (auto also = t.when(changes)) {
      const val writes = t.let(norm[&norm_problem::residual_out][&row_strides::address] != u64{0});
      const val residual_out = stage.row_of(norm[&norm_problem::residual_out], Stage::element_bytes);
      const val out = stage.row_of(norm[&norm_problem::out], Stage::element_bytes);
      const val to = t.let(select(writes, residual_out, out));
      stage.each_piece(stage.address(), [&](const auto& p, auto& x) {
        using words = words_of<decltype(p)>;
        const auto sums = words::rounded(t, make(p, x));
        stage.keep(to, writes, p, sums);
      });
      if (auto stores = t.when(writes)) stage.flush(to);
      line = to;
    }
    const val from = t.let(line);
    const val count = t.let(cast<f32>(stage.size()));
    var mean(t, 0.0f), squares(t, 0.0f);
    if (auto of_layer = t.when(norm[&norm_problem::is_centred] != 0u)) {
      const val origin = stage.first_number();
      var numbers(t, 0u);
      var sum(t, 0.0f);
      stage.each_piece(from, [&](const auto& p, auto& h) {
        using words = words_of<decltype(p)>;
        for (u32 i = 0; i < words::width; ++i) {
          const val one = words::value(t, h, i);
          const val distance = t.let(one - origin);
          sum += distance;
          squares = fma(distance, distance, squares);
        }
        numbers += words::width;
      });
      const val own = t.let(cast<f32>(numbers));
      const val total = reduce.sum(t.let(fma(own, origin, sum)));
      mean = total / count;
      const val shift = t.let(origin - mean);
      squares = squares + shift * fma(own, shift, sum * 2.0f);
    }
    if (auto of_rms = t.otherwise())
      stage.each_piece(from, [&](const auto& p, auto& h) {
        using words = words_of<decltype(p)>;
        for (u32 i = 0; i < words::width; ++i) {
          const val one = words::value(t, h, i);
          squares = fma(one, one, squares);
        }
      });
    const val middle = t.let(mean);
    const val total = reduce.sum(t.let(squares));
    const val inverse = t.let(rsqrt(total / count + norm[&norm_problem::epsilon]));
    return {from, middle, inverse};
  }

  // x plus the residual's elements.
  template <class Piece, class Words>
  static constexpr auto plus_residual(thread t, Stage& stage, const val<u64>& residual, const Piece& p,
                                      const Words& x) {
    using words = words_of<Piece>;
    auto more = words::zeros(t);
    stage.load(residual, p, more);
    return array_of<words::width>([&](u32 i) {
      const val own = words::value(t, x, i), other = words::value(t, more, i);
      return t.let(own + other);
    });
  }

  // (h - mean) * inverse of a piece of h, in `words`; with `casts`, rounded to T.
  template <class words, class Words>
  static constexpr auto normalised(thread t, const norm_statistics& of, const val<bool>& casts,
                                   const Words& h) {
    auto y = array_of<words::width>([&](u32 i) {
      const val one = words::value(t, h, i);
      return var(t, (one - of.mean) * of.inverse);
    });
    if (auto rounds = t.when(casts)) {
      const auto bits = words::rounded(t, y);
      for (u32 i = 0; i < words::width; ++i) y[i] = words::value(t, bits, i);
    }
    return y;
  }
};

template <dsl::scalar T, std::uint32_t Sm, bool Vectors>
struct norm_body {
  static constexpr void run(thread t, const val<norm_problem>& problem) {
    const val weight = t.let(problem[&norm_problem::weight]), bias = t.let(problem[&norm_problem::bias]);
    auto stage =
        stage_row<T, Sm, Vectors>(t, problem[&norm_problem::rows], problem[&norm_problem::x], weight);
    using steps = norm_steps<decltype(stage)>;
    row_reducer<Sm> reduce(t, stage.lanes(), stage.blocks());
    const val adds = t.let(problem[&norm_problem::residual][&row_strides::address] != u64{0});
    const val residual = stage.row_of(problem[&norm_problem::residual], sizeof(T));
    const norm_statistics of = steps::find(t, stage, reduce, problem, adds, [&](const auto& p, auto& x) {
      return steps::plus_residual(t, stage, residual, p, x);
    });
    const val offset = t.let(problem[&norm_problem::weight_offset]);
    const val casts = t.let(problem[&norm_problem::casts] != 0u);
    const val out = stage.row_of(problem[&norm_problem::out], sizeof(T));
    stage.each_with_factors(of.from, [&](const auto& p, auto& h, auto& by) {
      using words = words_of<decltype(p)>;
      auto y = steps::template normalised<words>(t, of, casts, h);
      if (auto scales = t.when(weight != u64{0})) {
        for (u32 i = 0; i < words::width; ++i) {
          const val factor = words::value(t, by, i);
          y[i] = y[i] * (offset + factor);
        }
      }
      if (auto moves = t.when(bias != u64{0})) {
        stage.load(bias, p, by);
        for (u32 i = 0; i < words::width; ++i) {
          const val more = words::value(t, by, i);
          y[i] = y[i] + more;
        }
      }
      const auto bits = words::rounded(t, y);
      stage.emit(out, p, bits);
    });
    stage.flush(out);
  }
};

// Launched by a row_plan.
template <dsl::scalar T, std::uint32_t Sm, bool Vectors>
inline constexpr auto norm_rows =
    kaio::kernel<"norm_" + type_name<T> + "_sm" + decimal<Sm> + row_kernel_suffix<Vectors>, row_threads,
                 kernel_options{.target = {Sm, false},
                                .min_blocks = Sm < 90   ? 0u
                                              : Vectors ? 6u
                                                        : 5u}>(
        [](thread t, val<norm_problem> problem) { norm_body<T, Sm, Vectors>::run(t, problem); });

}  // namespace kaio::ops
