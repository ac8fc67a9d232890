#pragma once
// The gradients of softmax and of log_softmax, in one kernel, from staged rows of y and dy:
//
//   softmax        d = sum of y dy     dx = scale y (dy - d)
//   log_softmax    d = sum of dy       dx = scale (dy - e^y d)

#include <kaio/ops/softmax/simt/kernel.hpp>

#include <cstdint>

namespace kaio::ops {

template <dsl::scalar T, std::uint32_t Sm, bool Vectors>
struct softmax_backward_body {
  static constexpr void run(thread t, const val<softmax_backward_problem>& problem) {
    using p_t = softmax_backward_problem;
    auto stage = stage_rows<T, Sm, Vectors>(t, problem[&p_t::rows], problem[&p_t::y], problem[&p_t::dy]);
    row_reducer<Sm> reduce(t, stage.lanes(), stage.blocks());
    const val is_log = t.let(problem[&p_t::is_log] != 0u);
    const val scale = t.let(problem[&p_t::scale]);
    const auto values = [&]<class words>(words, auto& bits) {
      return array_of<words::width>([&](u32 i) { return words::value(t, bits, i); });
    };
    var sum(t, 0.0f);
    stage.each_pair([&](const auto& p, auto& y_bits, auto& dy_bits) {
      using words = words_of<decltype(p)>;
      const auto y = values(words{}, y_bits), dy = values(words{}, dy_bits);
      const auto terms =
          array_of<words::width>([&](u32 i) { return t.let(select(is_log, dy[i], y[i] * dy[i])); });
      const val of_piece = tree_sum<words::width>(t, terms);
      sum += of_piece;
    });
    const val total = reduce.sum(t.let(sum));
    const val to = stage.row_of(problem[&p_t::dx], sizeof(T));
    stage.each_pair([&](const auto& p, auto& y_bits, auto& dy_bits) {
      using words = words_of<decltype(p)>;
      const auto y = values(words{}, y_bits), dy = values(words{}, dy_bits);
      auto dx = array_of<words::width>([&](u32) { return var(t, 0.0f); });
      if (auto logs = t.when(is_log))
        for (u32 i = 0; i < words::width; ++i) dx[i] = (dy[i] - fast::ftz::exp(y[i]) * total) * scale;
      if (auto powers = t.otherwise())
        for (u32 i = 0; i < words::width; ++i) dx[i] = (dy[i] - total) * (y[i] * scale);
      const auto bits = words::rounded(t, dx);
      stage.emit(to, p, bits);
    });
    stage.flush(to);
  }
};

// Launched by a row_plan of two staged tensors.
template <dsl::scalar T, std::uint32_t Sm, bool Vectors>
inline constexpr auto softmax_backward_rows =
    kaio::kernel<"softmax_backward_" + type_name<T> + "_sm" + decimal<Sm> + row_kernel_suffix<Vectors>,
                 row_threads,
                 kernel_options{.target = {Sm, false},
                                .min_blocks = Sm < 90   ? 0u
                                              : Vectors ? 6u
                                                        : 5u}>(
        [](thread t, val<softmax_backward_problem> problem) {
          softmax_backward_body<T, Sm, Vectors>::run(t, problem);
        });

}  // namespace kaio::ops
