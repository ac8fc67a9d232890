#pragma once
// The functions that the backward kernels call: a score and a mask, bound to their parameters.

#include <kaio/ops/attention/backward/common/derivative.hpp>
#include <kaio/ops/attention/backward/common/key_block.hpp>
#include <kaio/ops/attention/common/key_walk.hpp>
#include <kaio/ops/attention/common/mask.hpp>
#include <kaio/ops/attention/common/score.hpp>

namespace kaio::ops {

template <class Differentiate, class Factor, class ApplyMask, class Walks, class QueriesOf>
struct backward_functions {
  Differentiate score;  // score(s, derivatives, origin, scale)
  Factor factor;        // factor(scale)
  ApplyMask mask;       // mask(s, origin)
  Walks walks;          // over the keys of a tile of queries
  QueriesOf queries;    // queries(block, first key, last key)
};
template <class Differentiate, class Factor, class ApplyMask, class Walks, class QueriesOf>
backward_functions(Differentiate, Factor, ApplyMask, Walks, QueriesOf)
    -> backward_functions<Differentiate, Factor, ApplyMask, Walks, QueriesOf>;

// of(thread, gradients, score parameters, mask parameters). If dbias is written together with dq, the walk
// visits all keys, so that masked elements become zero.
template <class Score, class Mask, class OfScore = parameters_of_score<Score>,
          class OfMask = parameters_of_mask<Mask>>
struct backward_functions_of;

template <class Score, class Mask, class... OfScore, class... OfMask>
struct backward_functions_of<Score, Mask, attention_parameters<OfScore...>, attention_parameters<OfMask...>> {
  static_assert(!is_block_sparse<Mask>,
                "kaio: attention_backward reads no lists of blocks; give it the mask");
  static constexpr auto of(thread t, const val<attention_gradients>& gradients, const OfScore&... of_score,
                           const OfMask&... of_mask) {
    const val all = t.let(gradients[&attention_gradients::dbias][&attention_bias_gradient::direct] != 0u);
    return backward_functions{
        [t, &of_score...](const auto& s, auto& derivatives, const auto& origin, const val<f32>& scale) {
          differentiate_score<Score>(t, s, derivatives, origin, scale, of_score...);
        },
        [t, &of_score...](const val<f32>& scale) { return exponent_factor<Score>(t, scale, of_score...); },
        [t, &of_mask...](const auto& s, const auto& origin) { apply_mask<Mask>(t, s, origin, of_mask...); },
        range_walks{[t, all, &of_mask...](const attention_block& block, const val<u32>& first,
                                          const val<u32>& last) -> key_range {
          const key_range some = keys_of<Mask>(t, first, last, block.keys, block.offset, of_mask...);
          return {t.let(select(all, 0u, some.first)), t.let(select(all, block.keys, some.last)),
                  t.let(select(all, 0u, some.whole_first)), t.let(select(all, 0u, some.whole_last))};
        }},
        [t, &of_mask...](const attention_key_block& block, const val<u32>& first, const val<u32>& last) {
          return queries_of<Mask>(t, first, last, block.queries, block.offset, of_mask...);
        }};
  }
};

}  // namespace kaio::ops
