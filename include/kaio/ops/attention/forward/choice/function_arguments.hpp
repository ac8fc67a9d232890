#pragma once
// A launch's arguments for a score and a mask. The library's own get theirs from the call.

#include <kaio/ops/attention/common/biased_score.hpp>
#include <kaio/ops/attention/common/block_sparse.hpp>
#include <kaio/ops/attention/common/mask.hpp>
#include <kaio/ops/attention/common/pair_biased_score.hpp>
#include <kaio/ops/attention/common/score.hpp>
#include <kaio/ops/attention/forward/call/call.hpp>

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace kaio::ops {

namespace detail {
template <class Parameters>
inline constexpr std::size_t parameter_count = 0;
template <class... P>
inline constexpr std::size_t parameter_count<attention_parameters<P...>> = sizeof...(P);
}  // namespace detail

// launch(arguments of the score, arguments of the mask) for a call of attention or attention_decode. Those of
// the library's own functions, and the lists of block_sparse, come from the call; the others are `extra`.
template <class Score, class Mask, class Call, class Launch, class... Extra>
void with_function_arguments(const Call& call, const Launch& launch, const Extra&... extra) {
  constexpr bool general = std::is_same_v<Score, general_score>,
                 in_pairs = std::is_same_v<Score, pair_biased_score>,
                 biased = in_pairs || std::is_same_v<Score, biased_score>;
  constexpr bool band = std::is_same_v<mask_of_blocks<Mask>, band_mask>;
  static_assert(band || !biased, "kaio: scores with a bias in memory are for the library's own kernels");
  const std::tuple<const Extra&...> all{extra...};
  constexpr std::size_t count = sizeof...(Extra);
  constexpr std::size_t of_score =
      general || biased ? 0 : detail::parameter_count<parameters_of_score<Score>>;
  constexpr std::size_t split = of_score < count ? of_score : count;
  const auto call_with = [&]<std::size_t... S, std::size_t... M>(std::index_sequence<S...>,
                                                                 std::index_sequence<M...>) {
    const auto with_mask = [&](const auto&... first) {
      const auto with_lists = [&](const auto&... before) {
        if constexpr (band)
          launch(before..., call.band, std::get<split + M>(all)...);
        else
          launch(before..., std::get<split + M>(all)...);
      };
      if constexpr (takes_blocks<Mask>)
        with_lists(first..., call.lists);
      else
        with_lists(first...);
    };
    if constexpr (in_pairs)
      with_mask(score_pairs::of(call.bias, call.keep, call.problem.keys));
    else if constexpr (biased)
      with_mask(call.terms, call.bias, call.keep);
    else if constexpr (general)
      with_mask(call.terms, std::get<S>(all)...);
    else
      with_mask(std::get<S>(all)...);
  };
  call_with(std::make_index_sequence<split>(), std::make_index_sequence<count - split>());
}

}  // namespace kaio::ops
