#pragma once
// softmax and log_softmax of a staged row (rows/stage.hpp), in one kernel. With v = scale * x:
//
//   m = largest v     s = sum of e^(v - m)     y = e^(v - m) / s, or v - m - log s     lse = m + log s
//
// m is at least the lowest finite number. So v - m of a row of -infinity is -infinity, and s is 0.

#include <kaio/ops/rows/reduce.hpp>
#include <kaio/ops/rows/stage.hpp>
#include <kaio/ops/rows/tree.hpp>
#include <kaio/ops/softmax/common/problem.hpp>

#include <cstdint>
#include <limits>

namespace kaio::ops {

template <dsl::scalar T, std::uint32_t Sm, bool Vectors>
struct softmax_body {
  static constexpr f32 lowest = std::numeric_limits<f32>::lowest();

  static constexpr void run(thread t, const val<softmax_problem>& problem) {
    auto stage = stage_row<T, Sm, Vectors>(t, problem[&softmax_problem::rows], problem[&softmax_problem::x]);
    row_reducer<Sm> reduce(t, stage.lanes(), stage.blocks());
    const val scale = t.let(problem[&softmax_problem::scale]);

    // scale * x + more, of a piece of x in `words`.
    const auto scaled = [&]<class words>(words, auto& x, const val<f32>& more) {
      return array_of<words::width>([&](u32 i) {
        const val one = words::value(t, x, i);
        return var(t, fma(one, scale, more));
      });
    };

    const val zero = t.let(0.0f);
    var top(t, lowest);
    stage.each_piece(stage.address(), [&](const auto& p, auto& x) {
      using words = words_of<decltype(p)>;
      const auto v = scaled(words{}, x, zero);
      const val of_piece = tree_largest<words::width>(t, v);
      top = max(top, of_piece);
    });
    const val largest = reduce.largest(t.let(top), lowest);
    const val minus = t.let(-largest);
    var sum(t, 0.0f);
    stage.each_piece(stage.address(), [&](const auto& p, auto& x) {
      using words = words_of<decltype(p)>;
      const auto v = scaled(words{}, x, minus);
      const auto power = array_of<words::width>([&](u32 i) { return t.let(fast::ftz::exp(v[i])); });
      const val of_piece = tree_sum<words::width>(t, power);
      sum += of_piece;
    });
    const val total = reduce.sum(t.let(sum));
    const val is_none = t.let(total == 0.0f);
    const val log_total = t.let(log(total));
    const val inverse = t.let(select(is_none, 0.0f, rcp(total)));
    const val less = t.let(select(is_none, 0.0f, log_total));
    const val has_lse = t.let(problem[&softmax_problem::lse][&row_strides::address] != u64{0});
    if (auto one = t.when(all_of(has_lse, stage.exists(), stage.lane() == 0u, stage.block() == 0u))) {
      const val to = stage.row_of(problem[&softmax_problem::lse], sizeof(f32));
      pointer_at<out<f32>>(t, to)[0] = largest + log_total;
    }
    const val is_log = t.let(problem[&softmax_problem::is_log] != 0u);
    const val to = stage.row_of(problem[&softmax_problem::out], sizeof(T));
    stage.each_piece(stage.address(), [&](const auto& p, auto& x) {
      using words = words_of<decltype(p)>;
      auto y = array_of<words::width>([&](u32 i) {
        const val one = words::value(t, x, i);
        return var(t, fma(one, scale, minus));
      });
      if (auto logs = t.when(is_log))
        for (u32 i = 0; i < words::width; ++i) y[i] = y[i] - less;
      if (auto powers = t.otherwise())
        for (u32 i = 0; i < words::width; ++i) y[i] = fast::ftz::exp(y[i]) * inverse;
      const auto bits = words::rounded(t, y);
      stage.emit(to, p, bits);
    });
    stage.flush(to);
  }
};

// Launched by a row_plan.
template <dsl::scalar T, std::uint32_t Sm, bool Vectors>
inline constexpr auto softmax_rows =
    kaio::kernel<"softmax_" + type_name<T> + "_sm" + decimal<Sm> + row_kernel_suffix<Vectors>, row_threads,
                 kernel_options{.target = {Sm, false},
                                .min_blocks = Sm < 90   ? 0u
                                              : Vectors ? 6u
                                                        : 5u}>(
        [](thread t, val<softmax_problem> problem) { softmax_body<T, Sm, Vectors>::run(t, problem); });

}  // namespace kaio::ops
