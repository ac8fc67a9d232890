#pragma once
// The functions that the forward kernels call: a score and a mask, bound to their parameters.

#include <kaio/ops/attention/common/key_walk.hpp>
#include <kaio/ops/attention/common/mask.hpp>
#include <kaio/ops/attention/common/score.hpp>

namespace kaio::ops {

template <class ApplyScore, class ReadAhead, class Factor, class ApplyMask, class Walks>
struct attention_functions {
  ApplyScore score;      // score(s, origin, scale), and the numbers read ahead, if any
  ReadAhead read_ahead;  // read_ahead(to, s, origin), for a score that reads ahead
  Factor factor;         // factor(scale)
  ApplyMask mask;        // mask(s, origin)
  Walks walks;           // over the keys of a tile of queries
};
template <class ApplyScore, class ReadAhead, class Factor, class ApplyMask, class Walks>
attention_functions(ApplyScore, ReadAhead, Factor, ApplyMask, Walks)
    -> attention_functions<ApplyScore, ReadAhead, Factor, ApplyMask, Walks>;

// of(thread, score parameters, mask parameters)
template <class Score, class Mask, class OfScore = parameters_of_score<Score>,
          class OfMask = parameters_of_mask<Mask>>
struct attention_functions_of;

template <class Score, class Mask, class... OfScore, class... OfMask>
struct attention_functions_of<Score, Mask, attention_parameters<OfScore...>,
                              attention_parameters<OfMask...>> {
  static constexpr auto of(thread t, const OfScore&... of_score, const OfMask&... of_mask) {
    return attention_functions{
        [t, &of_score...](const auto& s, const auto& origin, const val<f32>& scale, const auto&... ahead) {
          apply_score<Score>(t, s, origin, scale, of_score..., ahead...);
        },
        [ t, &of_score... ]<class S = Score>(auto& to, const auto& s,
                                             const auto& origin){S::read_ahead(t, to, s, origin, of_score...);
  }
  , [t, &of_score...](const val<f32>& scale) { return exponent_factor<Score>(t, scale, of_score...); },
      [t, &of_mask...](const auto& s, const auto& origin) { apply_mask<Mask>(t, s, origin, of_mask...); },
      walks_of<Mask>(t, of_mask...)
};
}  // namespace kaio::ops
}
;

}  // namespace kaio::ops
