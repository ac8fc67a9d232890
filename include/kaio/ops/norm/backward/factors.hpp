#pragma once
// The factors of a row's elements, weight_offset + weight, in f32. A block has several rows in turn: if it copies
// rows ahead, each thread computes the factors of its pieces once and keeps them in shared memory.

#include <kaio/ops/norm/backward/problem.hpp>
#include <kaio/ops/norm/backward/stage.hpp>

#include <cstdint>
#include <type_traits>

namespace kaio::ops {

template <class Stage, class Problem>
class norm_factors {
  using words = typename Stage::words;
  static constexpr u32 width = words::width;

 public:
  constexpr norm_factors(thread t, Stage& stage, const Problem& problem)
      : t_(t), stage_(stage), problem_(problem) {
    if constexpr (Stage::has_copies)
      stage.each_near(t.let(val<bool>(true)), [&](const staged_piece& p) {
        const auto by = computed(p);
        for (u32 quad = 0; quad < Stage::quads; ++quad)
          stage.give(stage.place(p, Stage::factors_part + quad),
                     array_of<4>([&](u32 i) { return t.let(bit_cast<u32>(by[4 * quad + i])); }));
      });
  }

  // The factors of a piece.
  template <piece_place Place>
  constexpr auto of(const staged_piece& p, place_constant<Place>) {
    thread t = t_;
    if constexpr (Place == piece_place::held) {
      const auto own = array_of<Stage::quads>(
          [&](u32 quad) { return stage_.taken(stage_.place(p, Stage::factors_part + quad)); });
      return array_of<width>([&](u32 i) { return t.let(bit_cast<f32>(own[i / 4][i % 4])); });
    } else {
      return computed(p);
    }
  }

 private:
  constexpr auto computed(const staged_piece& p) {
    using p_ = norm_backward_problem;
    thread t = t_;
    auto by = array_of<width>([&](u32) { return var(t, 1.0f); });
    const val weight = t.let(problem_[&p_::weight]);
    if (auto given = t.when(weight != u64{0})) {
      const val offset = t.let(problem_[&p_::weight_offset]);
      const val is_f32 = t.let(problem_[&p_::is_weight_f32] != 0u);
      if (auto single = t.when(is_f32)) stage_.load_f32(weight, p, by);
      if constexpr (!std::is_same_v<typename Stage::stored, f32>) {
        if (auto own = t.when(!is_f32)) {
          const auto bits = stage_.loaded(weight, p);
          for (u32 i = 0; i < width; ++i) by[i] = words::value(t, bits, i);
        }
      }
      for (u32 i = 0; i < width; ++i) by[i] = offset + by[i];
    }
    return by;
  }

  thread t_;
  Stage& stage_;
  const Problem& problem_;
};

}  // namespace kaio::ops
