#pragma once
// The derivative of a score, by which attention_backward goes from what the softmax saw to q . k. The
// library's own scores have theirs; one of yours has a member next to its operator(), of the same parameters,
// whose result is the derivative of operator() by `score`:
//
//   struct squared {
//     constexpr val<f32> operator()(thread t, val<f32> score, ops::attention_place at, val<f32> a) const {
//       return t.let(score + a * score * score);
//     }
//     constexpr val<f32> derivative(thread t, val<f32> score, ops::attention_place at, val<f32> a) const {
//       return t.let(1.0f + 2.0f * a * score);
//     }
//   };

#include <kaio/ops/attention/common/score.hpp>

#include <cstdint>

namespace kaio::ops {

// All scores of a thread, as apply_score makes them. derivatives[i], 1 before, are those by scale * (q . k).
template <class Score, class Scores, class Derivatives, std::uint32_t Rows, class... Extra>
constexpr void differentiate_score(thread t, Scores& s, Derivatives& derivatives,
                                   const score_origin<Rows>& origin, const val<f32>& scale,
                                   const Extra&... extra) {
  if constexpr (requires { Score::tile_derivative(t, s, derivatives, origin, scale, extra...); }) {
    Score::tile_derivative(t, s, derivatives, origin, scale, extra...);
  } else if constexpr (requires(const val<f32>& x, const attention_place& at) {
                         Score{}.derivative(t, x, at, extra...);
                       }) {
    const score_origin<Rows> from = origin_for<Score>(t, origin);
    for (std::uint32_t i = 0; i < s.size(); ++i) {
      const val x = t.let(s[i] * scale);
      const attention_place at = place_for<Score>(t, s, from, i);
      derivatives[i] = Score{}.derivative(t, x, at, extra...);
      s[i] = Score{}(t, x, at, extra...);
    }
  } else {
    static_assert(dsl::never<Score>,
                  "kaio: attention_backward_with needs the derivative of its score: give the class a member "
                  "constexpr val<f32> derivative(thread t, val<f32> score, attention_place at, ...) const, "
                  "with the parameters of its operator()");
  }
}

}  // namespace kaio::ops
