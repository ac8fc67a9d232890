#pragma once
// The gradient of a bias with one element per score; the kernel of the scores' gradients writes it.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/attention/backward/common/problem.hpp>
#include <kaio/ops/attention/common/block.hpp>
#include <kaio/ops/attention/common/place.hpp>
#include <kaio/ops/shared/any_element.hpp>

#include <cstdint>

namespace kaio::ops {

// Whether this block writes dbias: if several blocks compute the same scores, the first one does.
constexpr val<bool> writes_bias_gradient(thread t, const val<attention_gradients>& gradients) {
  return t.let(all_of(gradients[&attention_gradients::dbias][&attention_bias_gradient::direct] != 0u,
                      block_idx_y() == 0u));
}

// Stores `dx`, the gradients of a thread's scores; scores outside of the sequence are skipped.
template <class Scores, std::uint32_t Rows>
constexpr void store_bias_gradient(thread t, const val<attention_gradients>& gradients, const Scores& dx,
                                   const score_origin<Rows>& origin) {
  const auto bias = gradients[&attention_gradients::dbias];
  const val of_key = t.let(bias[&attention_bias_gradient::key]);
  const val first =
      t.let(cast<i64>(origin.batch) * bias[&attention_bias_gradient::batch] +
            cast<i64>(origin.head) * bias[&attention_bias_gradient::head] + cast<i64>(origin.key) * of_key);
  with_any_element(t, t.let(bias[&attention_bias_gradient::type]), [&]<class A>(A) {
    const auto memory =
        pointer_at<out<typename A::stored>>(t, t.let(bias[&attention_bias_gradient::address])).from(first);
    for (std::uint32_t r = 0; r < Rows; ++r)
      if (auto exists = t.when(origin.query[r] <= origin.last_query)) {
        const auto row = memory.from(cast<i64>(origin.query[r]) * bias[&attention_bias_gradient::query]);
        for (std::uint32_t i = 0; i < dx.size(); ++i)
          if (dx.row(i) == r)
            if (auto has = t.when(origin.key + dx.column(i) <= origin.last_key))
              row[of_key * i64{dx.column(i)}] = A::write(t, t.let(dx[i]));
      }
  });
}

}  // namespace kaio::ops
