#pragma once
// The losses of rows of logits, which are read once. Each thread keeps the largest z that it has seen, m, and
// the sum of e^(z - m); a new largest one rescales the sum. With w the weights of the classes, e the
// smoothing and C the classes:
//
//   loss = (1 - e) w_target (lse - z_target) + e / C (lse sum of w - sum of w z) + z_loss lse^2
//
// The kernel for rows of whole pieces of f32 also takes logits of a part of the classes: it continues from the
// row's state, and stores the state or, with the last classes, the loss.
//
// m is at least the lowest finite number, so that z - m is never NaN for z of -infinity.

#include <kaio/ops/cross_entropy/simt/row.hpp>
#include <kaio/ops/rows/reduce.hpp>
#include <kaio/ops/rows/stage.hpp>
#include <kaio/ops/rows/tree.hpp>

#include <limits>

namespace kaio::ops {

template <dsl::scalar T, bool Vectors>
struct cross_entropy_body {
  static constexpr std::uint32_t sm = 70;
  static constexpr f32 lowest = std::numeric_limits<f32>::lowest();
  static constexpr f32 infinity = std::numeric_limits<f32>::infinity();
  static constexpr f32 nan = std::numeric_limits<f32>::quiet_NaN();
  static constexpr u32 batch_elements = 16;
  static constexpr bool has_parts = Vectors && sizeof(T) == 4;
  using row_of_logits = logits_row<T, sm, Vectors, batch_elements, has_parts>;
  using p = cross_entropy_problem;
  using f = cross_entropy_forward_problem;

  // Adds the w z and the w of a batch.
  template <class Values>
  static constexpr void add_weighted(thread t, const row_of_logits& row, const val<u64>& weights,
                                     const val<u64>& weights_here, const val<u32>& first, const Values& z,
                                     var<f32>& of_z, var<f32>& of_weights) {
    if (auto equal = t.when(weights == u64{0})) {
      const auto terms =
          array_of<batch_elements>([&](u32 i) { return t.let(select(row.is_inside(first, i), z[i], 0.0f)); });
      const val sum = tree_sum<batch_elements>(t, terms);
      of_z += sum;
    }
    if (auto given = t.otherwise()) {
      const auto memory = pointer_at<inout<f32>>(t, weights_here);
      for (u32 i = 0; i < batch_elements; ++i)
        if (auto inside = t.when(row.is_inside(first, i))) {
          const val weight = t.let(memory[row.element(first, i)]);
          of_z = fma(weight, z[i], of_z);
          of_weights += weight;
        }
    }
  }

  // The sums of a row: total is that of e^(z - largest), of_z and of_weights, with smoothing, those of w z and w.
  struct row_sums {
    val<f32> largest, total, of_z, of_weights;
  };
  // Stores the loss of a row. z_of_target(): called if the target is a class.
  template <class Z>
  static constexpr void finish(thread t, const val<cross_entropy_forward_problem>& problem,
                               const row_of_logits& row, const row_target& target, const row_sums& sums,
                               const Z& z_of_target) {
    const val<cross_entropy_problem> of = t.let(problem[&f::of]);
    const val smoothing = t.let(of[&p::terms][&cross_entropy_terms::smoothing]);
    const val log_total = t.let(log(sums.total));
    const val lse = t.let(sums.largest + log_total);
    var loss(t, 0.0f), weight(t, 0.0f);
    if (auto counts = t.when(!target.is_ignored)) {
      loss = nan;
      weight = 1.0f;
      if (auto is_class = t.when(!target.is_wrong)) {
        const val z = z_of_target();
        const val own = row.weight(target.index);
        const val minus_log_p = t.let((sums.largest - z) + log_total);
        loss = fma(of[&p::terms][&cross_entropy_terms::z_loss] * lse, lse,
                   (1.0f - smoothing) * own * minus_log_p);
        weight = own;
        if (auto adds = t.when(smoothing != 0.0f)) {
          const val share = t.let(smoothing / cast<f32>(row.classes()));
          loss += (lse * sums.of_weights - sums.of_z) * share;
        }
      }
    }
    const val lse_address = t.let(of[&p::lse][&row_numbers::address]);
    if (auto stores = t.when(lse_address != u64{0})) row.number_at(of[&p::lse])[0] = lse;
    row.number_at(problem[&f::losses])[0] = loss;
    const val target_weights = t.let(problem[&f::target_weights]);
    if (auto stores = t.when(target_weights != u64{0})) {
      const auto to = pointer_at<out<f32>>(t, target_weights);
      to[row.row()] = weight;
    }
  }

  static constexpr void run(thread t, const val<cross_entropy_forward_problem>& problem) {
    const val<cross_entropy_problem> of = t.let(problem[&f::of]);
    const val group = t.let(block_idx_x() + 0u), none = t.let(0u), one_block = t.let(1u);
    const row_of_logits row(t, of, group);
    row_reducer<sm> reduce(t, row.lanes(), one_block);
    const val line = row.address(of[&p::logits]);
    const val weights = t.let(of[&p::terms][&cross_entropy_terms::weights]);
    const val weights_here = row.weights_here();
    const val smoothing = t.let(of[&p::terms][&cross_entropy_terms::smoothing]);
    const val smooths = t.let(smoothing != 0.0f);

    var top(t, lowest), sum(t, 0.0f), sum_of_z(t, 0.0f), sum_of_weights(t, 0.0f);
    row.each_batch(line, row.size(), none, none, [&](const val<u32>& first, const auto& bits) {
      auto z = row.values(bits);
      if (auto adds = t.when(smooths))
        add_weighted(t, row, weights, weights_here, first, z, sum_of_z, sum_of_weights);
      if (auto partial = t.when(row.is_partial(first)))
        for (u32 i = 0; i < batch_elements; ++i) z[i] = select(row.is_inside(first, i), z[i], -infinity);
      const val of_batch = tree_largest<batch_elements>(t, z);
      const val largest = t.let(max(top, of_batch));
      const auto powers =
          array_of<batch_elements>([&](u32 i) { return t.let(fast::ftz::exp(z[i] - largest)); });
      const val more = tree_sum<batch_elements>(t, powers);
      sum = fma(sum, fast::ftz::exp(top - largest), more);
      top = largest;
    });
    const val largest = reduce.largest(t.let(top), lowest);
    const val total = reduce.sum(t.let(sum * fast::ftz::exp(top - largest)));
    if (auto adds = t.when(smooths)) {
      const val of_z = reduce.sum(t.let(sum_of_z));
      const val of_weights = reduce.sum(t.let(sum_of_weights));
      sum_of_z = of_z;
      sum_of_weights = select(weights == u64{0}, cast<f32>(row.size()), of_weights);
    }
    if (auto leads = t.when(all_of(row.exists(), row.lane() == 0u))) {
      const row_target target = row.target();
      if constexpr (has_parts) {
        var top_of_all(t, largest), total_of_all(t, total), z_of_target(t, 0.0f);
        if (auto is_here = t.when(cast<u64>(target.place) < cast<u64>(row.size())))
          z_of_target = row.value(line, target.place);
        const val states = t.let(problem[&f::states]);
        const auto memory = pointer_at<inout<f32>>(t, states);
        const auto cell = [&](u32 i) {
          return t.let(cast<u64>(of[&p::rows]) * u64{i} + cast<u64>(row.row()));
        };
        if (auto continues = t.when(problem[&f::has_before] != 0u)) {
          const auto before = array_of<cross_entropy_states>([&](u32 i) { return t.let(memory[cell(i)]); });
          const val top_of_both = t.let(max(largest, before[0]));
          total_of_all = fma(before[1], fast::ftz::exp(before[0] - top_of_both),
                             total * fast::ftz::exp(largest - top_of_both));
          top_of_all = top_of_both;
          sum_of_z += before[2];
          sum_of_weights += before[3];
          z_of_target += before[4];
        }
        if (auto ends = t.when(problem[&f::is_last] != 0u))
          finish(t, problem, row, target,
                 {t.let(top_of_all), t.let(total_of_all), t.let(sum_of_z), t.let(sum_of_weights)},
                 [&] { return t.let(z_of_target); });
        if (auto others_follow = t.otherwise()) {
          memory[cell(0)] = top_of_all;
          memory[cell(1)] = total_of_all;
          memory[cell(2)] = sum_of_z;
          memory[cell(3)] = sum_of_weights;
          memory[cell(4)] = z_of_target;
        }
      } else {
        finish(t, problem, row, target, {largest, total, t.let(sum_of_z), t.let(sum_of_weights)},
               [&] { return row.value(line, target.place); });
      }
    }
  }
};

// A block has 256 >> lanes_log rows.
template <dsl::scalar T, bool Vectors>
inline constexpr auto cross_entropy_rows =
    kaio::kernel<"cross_entropy_" + type_name<T> + row_kernel_suffix<Vectors>, row_threads,
                 kernel_options{.target = {70, false},
                                .min_blocks = !Vectors         ? 3u
                                              : sizeof(T) == 4 ? 4u
                                                               : 5u}>(
        [](thread t, val<cross_entropy_forward_problem> problem) {
          cross_entropy_body<T, Vectors>::run(t, problem);
        });

}  // namespace kaio::ops
