#pragma once
// The norms with everything that few calls need: f32 weights, a gated residual, modulation, and codes of 8 bits next
// to y or in place of it. y replaces h in shared memory, and codes are made of it there; codes of rows that do not fit
// need y as well.

#include <kaio/ops/norm/simt/kernel.hpp>
#include <kaio/ops/shared/divided_by.hpp>
#include <kaio/ops/shared/e4m3_code.hpp>
#include <kaio/ops/shared/element_type.hpp>
#include <kaio/ops/shared/int8_code.hpp>

#include <cstdint>

namespace kaio::ops {

template <dsl::scalar T, std::uint32_t Sm, bool Vectors>
struct general_norm_body {
  using words = row_words<T, Sm>;
  static constexpr u32 width = words::width;

  static constexpr void run(thread t, const val<general_norm_problem>& problem) {
    const auto norm = problem[&general_norm_problem::norm];
    auto stage = stage_row<T, Sm, Vectors>(t, norm[&norm_problem::rows], norm[&norm_problem::x]);
    using steps = norm_steps<decltype(stage)>;
    row_reducer<Sm> reduce(t, stage.lanes(), stage.blocks());
    const auto exists = [&](const auto& tensor) { return t.let(tensor[&row_strides::address] != u64{0}); };
    const auto row_of = [&](const auto& tensor) { return stage.row_of(tensor, sizeof(T)); };
    const val adds = exists(norm[&norm_problem::residual]),
              gates = exists(problem[&general_norm_problem::gate]);
    const val residual = row_of(norm[&norm_problem::residual]),
              gate = row_of(problem[&general_norm_problem::gate]);
    const norm_statistics of =
        steps::find(t, stage, reduce, norm, t.let(any_of(adds, gates)), [&](const staged_piece& p, auto& x) {
          auto h = array_of<width>([&](u32 i) {
            const val one = words::value(t, x, i);
            return var(t, one);
          });
          change(t, stage, gate, gates, p, [&](u32 i, const val<f32>& by) { h[i] = h[i] * by; });
          change(t, stage, residual, adds, p, [&](u32 i, const val<f32>& by) { h[i] = h[i] + by; });
          return h;
        });
    const val weight = t.let(norm[&norm_problem::weight]), bias = t.let(norm[&norm_problem::bias]);
    const val is_f32 = t.let(problem[&general_norm_problem::is_weight_f32] != 0u);
    const val offset = t.let(norm[&norm_problem::weight_offset]);
    const val casts = t.let(norm[&norm_problem::casts] != 0u);
    const val scale = row_of(problem[&general_norm_problem::scale]);
    const val shift = row_of(problem[&general_norm_problem::shift]);
    const val scales_y = exists(problem[&general_norm_problem::scale]);
    const val shifts_y = exists(problem[&general_norm_problem::shift]);
    // y of a piece, rounded to T.
    const auto result = [&](const staged_piece& p, const auto& h) {
      auto y = steps::normalised(t, of, casts, h);
      factor(t, stage, weight, is_f32, p, [&](u32 i, const val<f32>& by) { y[i] = y[i] * (offset + by); });
      factor(t, stage, bias, is_f32, p, [&](u32 i, const val<f32>& by) { y[i] = y[i] + by; });
      change(t, stage, scale, scales_y, p, [&](u32 i, const val<f32>& by) { y[i] = y[i] * (1.0f + by); });
      change(t, stage, shift, shifts_y, p, [&](u32 i, const val<f32>& by) { y[i] = y[i] + by; });
      return words::rounded(t, y);
    };
    const val out = row_of(norm[&norm_problem::out]);
    const val stores = exists(norm[&norm_problem::out]);
    var largest(t, 0.0f);
    const auto codes_rows = problem[&general_norm_problem::codes];
    const val codes_exist = exists(codes_rows);
    const val scales_exist = exists(problem[&general_norm_problem::scales]);
    stage.each_piece(of.from, [&](const staged_piece& p, auto& h) {
      const auto y = result(p, h);
      if (auto writes = t.when(stores)) stage.store(out, p, y);
      stage.put(p, y);
      for (u32 i = 0; i < width; ++i) {
        const val one = stage.or_zero(p, i, words::value(t, y, i));
        largest = max(largest, abs(one));
      }
    });
    if (auto makes = t.when(codes_exist)) {
      const val is_i8 = t.let(problem[&general_norm_problem::kept] == static_cast<u32>(kept_type::i8));
      var by(t, problem[&general_norm_problem::code_scale]);
      if (auto of_rows = t.when(scales_exist)) {
        const val of_row = reduce.largest(t.let(largest), 0.0f);
        const val of_i8 = int8_scale(t, of_row), of_e4m3 = e4m3_scale(t, of_row);
        by = select(is_i8, of_i8, of_e4m3);
        if (auto one = t.when(all_of(stage.exists(), stage.lane() == 0u, stage.block() == 0u))) {
          const val at = stage.row_of(problem[&general_norm_problem::scales], sizeof(f32));
          pointer_at<kaio::out<f32>>(t, at)[0] = by;
        }
      }
      const val divisor = t.let(by);
      // A row's own scale is at least 2^-9 of each of its numbers, as divided_by needs.
      const val is_usual = t.let(all_of(scales_exist, has_reciprocal(t, divisor)));
      const val reciprocal = t.let(1.0f / divisor);
      const val to = stage.row_of(codes_rows, 1);
      stage.each_piece(out, [&](const staged_piece& p, auto& y) {
        auto quotients = array_of<width>([&](u32) { return var(t, 0.0f); });
        if (auto usual = t.when(is_usual))
          for (u32 i = 0; i < width; ++i)
            quotients[i] = divided_by(t, words::value(t, y, i), divisor, reciprocal);
        if (auto other = t.when(!is_usual))
          for (u32 i = 0; i < width; ++i) quotients[i] = words::value(t, y, i) / divisor;
        if (auto integers = t.when(is_i8))
          store<i8>(t, stage, to, p, [&](u32 i) { return int8_code_of(t, t.let(quotients[i])); });
        if (auto floats = t.when(!is_i8))
          store<e4m3>(t, stage, to, p, [&](u32 i) { return e4m3_code_of(t, t.let(quotients[i])); });
      });
    }
  }

 private:
  // Calls f(i, element i) for a row of T, if it exists.
  template <class Stage, class F>
  static constexpr void change(thread t, Stage& stage, const val<u64>& row, const val<bool>& exists,
                               const staged_piece& p, const F& f) {
    if (auto given = t.when(exists)) {
      auto by = words::zeros(t);
      stage.load(row, p, by);
      for (u32 i = 0; i < width; ++i) f(i, words::value(t, by, i));
    }
  }
  // Calls f(i, element i) for numbers of T or of f32, if they exist.
  template <class Stage, class F>
  static constexpr void factor(thread t, Stage& stage, const val<u64>& row, const val<bool>& is_f32,
                               const staged_piece& p, const F& f) {
    if (auto given = t.when(row != u64{0})) {
      auto numbers = array_of<width>([&](u32) { return var(t, 0.0f); });
      if (auto single = t.when(is_f32)) {
        const auto memory = pointer_at<inout<f32>>(t, row);
        for (u32 i = 0; i < width; ++i)
          if (auto inside = t.when(stage.is_inside(p, i))) numbers[i] = memory[stage.element(p, i)];
      }
      if (auto own = t.when(!is_f32)) {
        auto by = words::zeros(t);
        stage.load(row, p, by);
        for (u32 i = 0; i < width; ++i) numbers[i] = words::value(t, by, i);
      }
      for (u32 i = 0; i < width; ++i) f(i, t.let(numbers[i]));
    }
  }
  template <class Code, class Stage, class Make>
  static constexpr void store(thread t, Stage& stage, const val<u64>& row, const staged_piece& p,
                              const Make& code) {
    const auto memory = pointer_at<kaio::out<Code>>(t, row);
    if constexpr (Vectors) {
      const auto all = array_of<width>(code);
      for (u32 i = 0; i < width; i += 4)
        store_vec(memory[p.first + i], make_vec(all[i], all[i + 1], all[i + 2], all[i + 3]));
    } else {
      for (u32 i = 0; i < width; ++i) {
        const val at = stage.element(p, i);
        if (auto inside = t.when(at < stage.size())) memory[at] = code(i);
      }
    }
  }
};

template <dsl::scalar T, std::uint32_t Sm, bool Vectors>
inline constexpr auto general_norm_rows =
    kaio::kernel<"norm_general_" + type_name<T> + "_sm" + decimal<Sm> + row_kernel_suffix<Vectors>,
                 row_threads, kernel_options{.target = {Sm, false}, .min_blocks = 4u}>(
        [](thread t, val<general_norm_problem> problem) {
          general_norm_body<T, Sm, Vectors>::run(t, problem);
        });

}  // namespace kaio::ops
