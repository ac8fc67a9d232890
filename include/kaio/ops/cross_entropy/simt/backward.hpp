#pragma once
// The gradient of cross_entropy from the logits and their lse: elementwise, one read and one write. With p =
// e^(z - lse):
//
//   dz = dloss (p ((1 - e) w_target + e / C sum of w + 2 z_loss lse) - (1 - e) w_target [target] - e / C w)
//   dx = dz (1 - (z / softcap)^2)
//
// The kernels for rows of whole pieces of f32 also take logits of a part of the classes. Two more round to f16 and
// bf16.

#include <kaio/ops/cross_entropy/simt/row.hpp>
#include <kaio/ops/rows/reduce.hpp>
#include <kaio/ops/rows/stage.hpp>

#include <limits>
#include <type_traits>

namespace kaio::ops {

template <dsl::scalar T, std::uint32_t Sm, bool Vectors, dsl::scalar Out = T>
struct cross_entropy_backward_body {
  static constexpr f32 nan = std::numeric_limits<f32>::quiet_NaN();
  static constexpr u32 batch_elements = Vectors ? 8 : 16;
  using row_of_logits = logits_row<T, Sm, Vectors, batch_elements, Vectors && sizeof(T) == 4>;
  using words = typename row_of_logits::words;
  using p = cross_entropy_problem;
  using b = cross_entropy_backward_problem;
  static constexpr u32 none = 0xffffffff;

  static constexpr void run(thread t, const val<cross_entropy_backward_problem>& problem) {
    const val<cross_entropy_problem> of = t.let(problem[&b::of]);
    const val parts_log = t.let(problem[&b::parts_log]);
    const val part = t.let(block_idx_x() & ((val<u32>(1u) << parts_log) - 1u));
    const val group = t.let(block_idx_x() >> parts_log);
    const row_of_logits row(t, of, group);
    const val one_block = t.let(1u);
    row_reducer<70> reduce(t, row.lanes(), one_block);
    if constexpr (Sm >= 90) {
      launch_dependents(t);
      grid_dependency_wait(t);
    }
    const val weights = t.let(of[&p::terms][&cross_entropy_terms::weights]);
    const val smoothing = t.let(of[&p::terms][&cross_entropy_terms::smoothing]);
    const val weighs = t.let(all_of(smoothing != 0.0f, weights != u64{0}));
    const val weights_here = row.weights_here();
    const val classes = row.classes();
    const auto of_all_classes = pointer_at<inout<f32>>(t, weights),
               of_classes = pointer_at<inout<f32>>(t, weights_here);
    var sum_of_weights(t, cast<f32>(classes));
    if (auto sums = t.when(weighs)) {
      var own(t, 0.0f);
      for (auto c : t.range(row.lane(), classes, row.lanes())) own += of_all_classes[c];
      const val total = reduce.sum(t.let(own));
      sum_of_weights = total;
    }

    // dz = by_p p - by_class, and at the target less by_target
    var lse(t, 0.0f), by_p(t, 0.0f), by_class(t, 0.0f), by_target(t, 0.0f);
    var target(t, none), limit(t, 0u);
    if (auto is_row = t.when(row.exists())) {
      const row_target own = row.target();
      if (auto counts = t.when(!own.is_ignored)) {
        limit = row.size();
        lse = row.number_at(of[&p::lse])[0];
        var scale(t, row.number_at(problem[&b::dlosses])[0]);
        const val total_weight = t.let(problem[&b::total_weight]);
        if (auto divides = t.when(total_weight != u64{0}))
          scale = scale / pointer_at<inout<f32>>(t, total_weight)[0];
        if (auto wrong = t.when(own.is_wrong)) by_p = nan;
        if (auto right = t.otherwise()) {
          target = cast<u32>(own.place);
          const val weight = row.weight(own.index);
          const val share = t.let(smoothing / cast<f32>(classes));
          const val at_target = t.let((1.0f - smoothing) * weight);
          by_p = scale * (at_target + share * sum_of_weights +
                          of[&p::terms][&cross_entropy_terms::z_loss] * 2.0f * lse);
          by_target = scale * at_target;
          by_class = scale * share;
        }
      }
    }
    const val line = row.address(of[&p::logits]);
    const val to = row.template address<Out>(problem[&b::dlogits]);
    const val is_ignored = t.let(limit == 0u);
    const val at_class = t.let(target);
    const val own_lse = t.let(lse), of_p = t.let(by_p), of_class = t.let(by_class),
              of_target = t.let(by_target);
    const val of_all = t.let(select(weighs, 0.0f, -of_class));
    const val inverse_cap = t.let(1.0f / row.softcap());
    row.each_batch(line, t.let(limit), part, parts_log, [&](const val<u32>& first, const auto& bits) {
      auto z = row.values(bits);
      auto dx = array_of<batch_elements>([&](u32 i) {
        const val power = t.let(fast::ftz::exp(z[i] - own_lse));
        return var(t, fma(power, of_p, of_all));
      });
      if (auto weighted = t.when(weighs))
        for (u32 i = 0; i < batch_elements; ++i)
          if (auto inside = t.when(row.is_inside(first, i)))
            dx[i] = fma(-of_class, of_classes[row.element(first, i)], dx[i]);
      if (auto held = t.when(row.may_have(first, at_class)))
        for (u32 i = 0; i < batch_elements; ++i)
          dx[i] = select(row.element(first, i) == at_class, dx[i] - of_target, dx[i]);
      if (auto caps = t.when(row.softcap() != 0.0f))
        for (u32 i = 0; i < batch_elements; ++i) {
          const val part_of_cap = t.let(z[i] * inverse_cap);
          dx[i] = dx[i] * fma(-part_of_cap, part_of_cap, 1.0f);
        }
      if constexpr (std::is_same_v<T, Out>) {
        const auto rounded = array_of<row_of_logits::pieces>([&](u32 piece) {
          const auto values =
              array_of<words::width>([&](u32 i) { return t.let(dx[piece * words::width + i]); });
          const auto exact = words::rounded(t, values);
          return array_of<4>([&](u32 i) { return t.let(select(is_ignored, 0u, exact[i])); });
        });
        row.store(to, first, rounded);
      } else {
        const auto values =
            array_of<batch_elements>([&](u32 i) { return t.let(select(is_ignored, 0.0f, dx[i])); });
        row.template store_rounded<Out>(to, first, values);
      }
    });
  }
};

// A block has 256 >> lanes_log rows, or one of 2^parts_log parts of them.
template <dsl::scalar T, std::uint32_t Sm, bool Vectors>
inline constexpr auto cross_entropy_backward_rows =
    kaio::kernel<"cross_entropy_backward_" + type_name<T> + "_sm" + decimal<Sm> + row_kernel_suffix<Vectors>,
                 row_threads,
                 kernel_options{.target = {Sm, false},
                                .min_blocks = Sm < 90   ? (Vectors && sizeof(T) == 4 ? 4u : 0u)
                                              : Vectors ? 5u
                                                        : 4u}>(
        [](thread t, val<cross_entropy_backward_problem> problem) {
          cross_entropy_backward_body<T, Sm, Vectors>::run(t, problem);
        });

// From logits of f32 to a gradient of 16 bits. There are no products of bf16 before sm_80.
template <dsl::scalar Out>
inline constexpr std::uint32_t cross_entropy_rounded_sm = std::is_same_v<Out, f16> ? 70 : 80;
template <dsl::scalar Out>
inline constexpr auto cross_entropy_backward_rounded =
    kaio::kernel<"cross_entropy_backward_f32_to_" + type_name<Out>, row_threads,
                 kernel_options{.target = {cross_entropy_rounded_sm<Out>, false}, .min_blocks = 4u}>(
        [](thread t, val<cross_entropy_backward_problem> problem) {
          cross_entropy_backward_body<f32, cross_entropy_rounded_sm<Out>, true, Out>::run(t, problem);
        });

}  // namespace kaio::ops
