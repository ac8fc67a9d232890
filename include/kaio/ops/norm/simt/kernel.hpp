#pragma once
// rms_norm and layer_norm of a staged row (rows/stage.hpp), in one kernel:
//
//   [h = x + residual, stored,] mean of h, squares of h - mean   y = (h - mean) * inverse * weight + bias
//
// rms_norm has no mean. For layer_norm, a thread takes its n numbers relative to one of them, o, so a large mean costs no
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
  val<bool> is_centred;
  val<f32> mean, inverse;
};

// Steps of the kernels, for a row_stage and its row_reducer.
template <class Stage>
struct norm_steps {
  // changes: h is not x; make(piece, bits) turns those of x into those of h. With Factors it takes those of the piece too.
  // Far pieces of h are left where the kernel may write, in residual_out or in out.
  template <bool Factors = false, class Reduce, class Norm, class Make>
  static constexpr norm_statistics find(thread t, Stage& stage, Reduce& reduce, const Norm& norm,
                                        const val<bool>& changes, const Make& make) {
    var line(t, stage.address());
    const val writes = t.let(norm[&norm_problem::residual_out][&row_strides::address] != u64{0});
    if (auto also = t.when(changes)) {
      const val residual_out = stage.row_of(norm[&norm_problem::residual_out], Stage::element_bytes);
      const val out = stage.row_of(norm[&norm_problem::out], Stage::element_bytes);
      line = select(writes, residual_out, out);
    }
    const val from = t.let(line);
    const val is_centred = t.let(norm[&norm_problem::is_centred] != 0u);
    var origin(t, 0.0f), sum(t, 0.0f), squares(t, 0.0f);
    var numbers(t, 0u);
    const auto pass = [&](const auto& p, auto& h, const auto&... factors) {
      using words = words_of<decltype(p)>;
      if (auto also = t.when(changes)) {
        make(p, h, factors...);
        stage.keep(from, writes, p, h);
      }
      const auto all = array_of<words::width>([&](u32 i) { return words::value(t, h, i); });
      if (auto of_layer = t.when(is_centred)) {
        origin = select(numbers == 0u, all[0], origin);
        for (u32 i = 0; i < words::width; ++i) {
          const val distance = t.let(all[i] - origin);
          sum += distance;
          squares = fma(distance, distance, squares);
        }
        numbers += words::width;
      }
      if (auto of_rms = t.otherwise())
        for (u32 i = 0; i < words::width; ++i) squares = fma(all[i], all[i], squares);
    };
    if constexpr (Factors)
      stage.each_with_factors(stage.address(), pass);
    else
      stage.each_piece(stage.address(), pass);
    if (auto stores = t.when(all_of(changes, writes))) stage.flush(from);
    const val count = t.let(cast<f32>(stage.size()));
    var mean(t, 0.0f);
    if (auto of_layer = t.when(is_centred)) {
      const val own = t.let(cast<f32>(numbers));
      const val total = reduce.sum(t.let(fma(own, origin, sum)));
      mean = total / count;
      const val shift = t.let(origin - mean);
      squares = squares + shift * fma(own, shift, sum * 2.0f);
    }
    const val total = reduce.sum(t.let(squares));
    const val inverse = t.let(rsqrt(total / count + norm[&norm_problem::epsilon]));
    return {from, is_centred, t.let(mean), inverse};
  }

  // x becomes x plus the residual, rounded to T.
  template <class Piece, class Bits>
  static constexpr void add_residual(thread t, Stage& stage, const val<u64>& residual, const Piece& p,
                                     Bits& x) {
    using words = words_of<Piece>;
    auto more = words::zeros(t);
    stage.load(residual, p, more);
    words::add(t, x, more);
  }

  // (h - mean) * inverse of a piece of h, in `words`; with `casts`, rounded to T.
  template <class words, class Words>
  static constexpr auto normalised(thread t, const norm_statistics& of, const val<bool>& casts,
                                   const Words& h) {
    auto y = array_of<words::width>([&](u32 i) { return var(t, words::value(t, h, i)); });
    if (auto of_layer = t.when(of.is_centred))
      for (u32 i = 0; i < words::width; ++i) y[i] = y[i] - of.mean;
    for (u32 i = 0; i < words::width; ++i) y[i] = y[i] * of.inverse;
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
      steps::add_residual(t, stage, residual, p, x);
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
