#pragma once
// The derivative of a score. attention_backward multiplies by it to get from the gradient of what the softmax
// saw to that of q . k. The library's own scores bring theirs. For a score of yours, kaio::derivative makes
// it from operator(). A better one can be a member next to operator(), with the same parameters:
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

// Applies the score to all scores of a thread, as apply_score does. derivatives[i], 1 on entry, becomes the
// derivative of score i by scale * (q . k).
template <class Score, class Scores, class Derivatives, std::uint32_t Rows, class... Extra>
constexpr void differentiate_score(thread t, Scores& s, Derivatives& derivatives,
                                   const score_origin<Rows>& origin, const val<f32>& scale,
                                   const Extra&... extra) {
  if constexpr (requires { Score::tile_derivative(t, s, derivatives, origin, scale, extra...); }) {
    Score::tile_derivative(t, s, derivatives, origin, scale, extra...);
  } else {
    const score_origin<Rows> from = origin_for<Score>(t, origin);
    for (std::uint32_t i = 0; i < s.size(); ++i) {
      const val x = t.let(s[i] * scale);
      const attention_place at = place_for<Score>(t, s, from, i);
      const val y = Score{}(t, x, at, extra...);
      if constexpr (requires { Score{}.derivative(t, x, at, extra...); })
        derivatives[i] = Score{}.derivative(t, x, at, extra...);
      else
        derivatives[i] = derivative(y, x);
      s[i] = y;
    }
  }
}

}  // namespace kaio::ops
