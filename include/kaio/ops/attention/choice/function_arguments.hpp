#pragma once
// The arguments that a launch takes for a score and a mask: the library's own get theirs out of the call.

#include <kaio/ops/attention/call/call.hpp>
#include <kaio/ops/attention/common/mask.hpp>
#include <kaio/ops/attention/common/score.hpp>

#include <type_traits>

namespace kaio::ops {

// launch(arguments of the score, arguments of the mask): those of the library's own come from the call,
// others are `extra`.
template <class Score, class Mask, class Launch, class... Extra>
void with_function_arguments(const attention_call& call, const Launch& launch, const Extra&... extra) {
  constexpr bool general = std::is_same_v<Score, general_score>, band = std::is_same_v<Mask, band_mask>;
  if constexpr (general && band)
    launch(call.terms, call.band, extra...);
  else if constexpr (general)
    launch(call.terms, extra...);
  else if constexpr (band)
    launch(extra..., call.band);
  else
    launch(extra...);
}

}  // namespace kaio::ops
