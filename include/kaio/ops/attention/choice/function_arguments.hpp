#pragma once
// The arguments that a launch takes for a score and a mask: the library's own get theirs out of the call.

#include <kaio/ops/attention/call/call.hpp>
#include <kaio/ops/attention/common/biased_score.hpp>
#include <kaio/ops/attention/common/mask.hpp>
#include <kaio/ops/attention/common/score.hpp>

#include <type_traits>

namespace kaio::ops {

// launch(arguments of the score, arguments of the mask): those of the library's own come from the call,
// others are `extra`.
template <class Score, class Mask, class Launch, class... Extra>
void with_function_arguments(const attention_call& call, const Launch& launch, const Extra&... extra) {
  constexpr bool general = std::is_same_v<Score, general_score>, biased = std::is_same_v<Score, biased_score>,
                 band = std::is_same_v<Mask, band_mask>;
  static_assert(band || !biased, "kaio: biased_score is for the library's own kernels");
  if constexpr (biased && band)
    launch(call.terms, call.bias, call.keep, call.band, extra...);
  else if constexpr (general && band)
    launch(call.terms, call.band, extra...);
  else if constexpr (general)
    launch(call.terms, extra...);
  else if constexpr (band)
    launch(extra..., call.band);
  else
    launch(extra...);
}

}  // namespace kaio::ops
