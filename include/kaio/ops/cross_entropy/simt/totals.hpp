#pragma once
// The sum of the rows' losses, and of their weights. Each block adds totals_of_block neighbours in a fixed
// order; if there are several blocks, the next launch adds their sums.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/cross_entropy/common/problem.hpp>

namespace kaio::ops {

template <class = void>
inline constexpr auto cross_entropy_totals =
    kaio::kernel<"cross_entropy_totals", totals_threads, kernel_options{.target = {70, false}}>(
        [](thread t, val<cross_entropy_totals_problem> problem) {
          using p = cross_entropy_totals_problem;
          const val count = t.let(problem[&p::count]);
          const val losses = t.let(problem[&p::losses]), weights = t.let(problem[&p::weights]);
          const auto of_losses = pointer_at<inout<f32>>(t, losses),
                     of_weights = pointer_at<inout<f32>>(t, weights);
          auto loss = array_of<totals_of_thread>([&](u32) { return var(t, 0.0f); });
          auto weight = array_of<totals_of_thread>([&](u32) { return var(t, 0.0f); });
          for (u32 i = 0; i < totals_of_thread; ++i) {
            const val row = t.let(block_idx_x() * totals_of_block + totals_threads * i + t.thread_rank());
            if (auto inside = t.when(row < count)) {
              loss[i] = of_losses[row];
              weight[i] = of_weights[row];
            }
          }
          for (u32 i = 1; i < totals_of_thread; ++i) {
            loss[0] += loss[i];
            weight[0] += weight[i];
          }
          const val own_loss = t.let(loss[0]), own_weight = t.let(weight[0]);
          const val sum = t.let(block_reduce(t, own_loss, plus{}));
          const val total = t.let(block_reduce(t, own_weight, plus{}));
          if (auto first = t.when(t.thread_rank() == 0u)) {
            const val to = t.let(problem[&p::loss]), weight_to = t.let(problem[&p::weight]);
            const val result = t.let(select(problem[&p::divides] != 0u, sum / total, sum));
            pointer_at<out<f32>>(t, to)[block_idx_x()] = result;
            if (auto stores = t.when(weight_to != u64{0}))
              pointer_at<out<f32>>(t, weight_to)[block_idx_x()] = total;
          }
        });

}  // namespace kaio::ops
