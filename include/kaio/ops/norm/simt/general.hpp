#pragma once
// The norms with everything that few calls need: f32 weights, a gated residual, modulation, and codes of 8 bits next
// to y or in place of it. y replaces h in shared memory, and codes are made of it there (codes.hpp); codes of rows that
// do not fit need y as well.

#include <kaio/ops/norm/simt/codes.hpp>
#include <kaio/ops/norm/simt/kernel.hpp>

#include <cstdint>
#include <type_traits>

namespace kaio::ops {

template <dsl::scalar T, std::uint32_t Sm, bool Vectors>
struct general_norm_body {
  static constexpr void run(thread t, const val<general_norm_problem>& problem) {
    const auto norm = problem[&general_norm_problem::norm];
    const auto rows = norm[&norm_problem::rows];
    auto stage = [&] {
      if constexpr (Vectors)  // the residual's elements are the factors of the first pass
        return row_stage<T, Sm, true, std::remove_cvref_t<decltype(rows)>>(t, rows, norm[&norm_problem::x],
                                                                           norm[&norm_problem::residual]);
      else
        return stage_row<T, Sm, false>(t, rows, norm[&norm_problem::x]);
    }();
    using steps = norm_steps<decltype(stage)>;
    row_reducer<Sm> reduce(t, stage.lanes(), stage.blocks());
    const auto exists = [&](const auto& tensor) { return t.let(tensor[&row_strides::address] != u64{0}); };
    const auto row_of = [&](const auto& tensor) { return stage.row_of(tensor, sizeof(T)); };
    // The rows of tensors that few calls have.
    const auto rare_row = [&](const auto& tensor) {
      var row(t, u64{0});
      if (auto given = t.when(exists(tensor))) row = row_of(tensor);
      return t.let(row);
    };
    const val gate = rare_row(problem[&general_norm_problem::gate]);
    const val has_gate = t.let(gate != u64{0}), has_residual = exists(norm[&norm_problem::residual]);
    const val changes = t.let(any_of(has_gate, has_residual));
    const auto make = [&](const auto& p, auto& x, const auto& residual) {
      using words = words_of<decltype(p)>;
      if (auto plain = t.when(!has_gate)) words::add(t, x, residual);
      if (auto gated = t.when(has_gate)) {  // one rounding of both steps
        auto factors = words::zeros(t);
        stage.load(gate, p, factors);
        auto h = array_of<words::width>([&](u32 i) {
          const val own = words::value(t, x, i), factor = words::value(t, factors, i);
          return var(t, own * factor);
        });
        if (auto adds = t.when(has_residual))
          for (u32 i = 0; i < words::width; ++i) h[i] = h[i] + words::value(t, residual, i);
        const auto rounded = words::rounded(t, h);
        for (u32 i = 0; i < x.size(); ++i) x[i] = rounded[i];
      }
    };
    const norm_statistics of = [&] {
      if constexpr (Vectors) {
        return steps::template find<true>(t, stage, reduce, norm, changes, make);
      } else {
        const val residual = row_of(norm[&norm_problem::residual]);
        return steps::find(t, stage, reduce, norm, changes, [&](const auto& p, auto& x) {
          auto more = words_of<decltype(p)>::zeros(t);
          if (auto adds = t.when(has_residual)) stage.load(residual, p, more);
          make(p, x, more);
        });
      }
    }();
    const val weight = t.let(norm[&norm_problem::weight]), bias = t.let(norm[&norm_problem::bias]);
    const val is_f32 = t.let(problem[&general_norm_problem::is_weight_f32] != 0u);
    const val offset = t.let(norm[&norm_problem::weight_offset]);
    const val casts = t.let(norm[&norm_problem::casts] != 0u);
    const val scale = rare_row(problem[&general_norm_problem::scale]);
    const val shift = rare_row(problem[&general_norm_problem::shift]);
    const val is_weight_alone = t.let(all_of(!is_f32, weight != u64{0}, (bias | scale | shift) == u64{0}));
    // y of a piece, rounded to T.
    const auto result = [&](const auto& p, const auto& h) {
      using words = words_of<decltype(p)>;
      auto weights = words::zeros(t);
      if constexpr (Vectors)  // asked for before h is waited for
        if (auto usual = t.when(is_weight_alone)) stage.load(weight, p, weights);
      auto y = steps::template normalised<words>(t, of, casts, h);
      const auto add_terms = [&] {
        for (auto i : t.range(0u, 4u).no_unroll()) {  // weight, bias, scale, shift
          const val is_early = t.let(i < 2u), is_product = t.let((i & 1u) == 0u);
          const val factors = t.let(select(is_early, weight, scale)),
                    addends = t.let(select(is_early, bias, shift));
          const val row = t.let(select(is_product, factors, addends));
          apply(t, stage, p,
                {row, t.let(all_of(is_early, is_f32)), is_product, t.let(select(is_early, offset, 1.0f))}, y);
        }
      };
      if constexpr (Vectors) {
        if (auto usual = t.when(is_weight_alone)) {
          for (u32 i = 0; i < words::width; ++i) y[i] = y[i] * (offset + words::value(t, weights, i));
        }
        if (auto other = t.when(!is_weight_alone)) add_terms();
      } else {
        add_terms();
      }
      return words::rounded(t, y);
    };
    const val out = row_of(norm[&norm_problem::out]);
    const val stores = exists(norm[&norm_problem::out]);
    const val makes = exists(problem[&general_norm_problem::codes]);
    row_codes<T, Sm, Vectors, decltype(stage)> codes(t, stage, problem);
    if constexpr (Vectors) {
      codes.finish_neighbours(reduce, of.from, out, makes, [&](const auto& p, const auto& h) {
        const auto y = result(p, h);
        stage.keep(out, stores, p, y);
        return y;
      });
    } else {
      largest_of_pieces<T, Sm> largest(t);
      stage.each_piece(of.from, [&](const auto& p, auto& h) {
        const auto y = result(p, h);
        stage.keep(out, stores, p, y);
        largest.template add<words_of<decltype(p)>>(y);
      });
      if (auto writes = t.when(stores)) stage.flush(out);
      if (auto also = t.when(makes)) codes.make_of_elements(reduce, largest.result(), out);
    }
  }

 private:
  // What happens to the numbers of a row: y = y * (offset + number), or y = y + number.
  struct term {
    val<u64> row;      // 0: nothing happens
    val<bool> is_f32;  // else the numbers are of T
    val<bool> is_product;
    val<f32> offset;
  };
  template <class Stage, class Piece, class Y>
  static constexpr void apply(thread t, Stage& stage, const Piece& p, const term& of, Y& y) {
    using words = words_of<Piece>;
    constexpr u32 width = words::width;
    if (auto given = t.when(of.row != u64{0})) {
      auto numbers = array_of<width>([&](u32) { return var(t, 0.0f); });
      const auto load = [&] {
        auto by = words::zeros(t);
        stage.load(of.row, p, by);
        for (u32 i = 0; i < width; ++i) numbers[i] = words::value(t, by, i);
      };
      if constexpr (std::is_same_v<T, f32>) {
        load();
      } else {
        if (auto single = t.when(of.is_f32)) {
          const auto memory = pointer_at<inout<f32>>(t, of.row);
          for (u32 i = 0; i < width; ++i) numbers[i] = memory[stage.element(p, i)];
        }
        if (auto own = t.when(!of.is_f32)) load();
      }
      for (u32 i = 0; i < width; ++i) {
        const val product = t.let(y[i] * (of.offset + numbers[i])), sum = t.let(y[i] + numbers[i]);
        y[i] = select(of.is_product, product, sum);
      }
    }
  }
};

template <dsl::scalar T, std::uint32_t Sm, bool Vectors>
inline constexpr auto general_norm_rows =
    kaio::kernel<"norm_general_" + type_name<T> + "_sm" + decimal<Sm> + row_kernel_suffix<Vectors>,
                 row_threads, kernel_options{.target = {Sm, false}, .min_blocks = Vectors ? 4u : 3u}>(
        [](thread t, val<general_norm_problem> problem) {
          general_norm_body<T, Sm, Vectors>::run(t, problem);
        });

}  // namespace kaio::ops
