#pragma once
// general_score plus tensors with an element for each score: a bias, and a mask of the scores to keep. A
// thread reads the elements of its own scores, at any strides. The forward kernels for sm_90a contain their
// score twice and would become too large: they have pair_biased_score.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/attention/common/place.hpp>
#include <kaio/ops/attention/common/score.hpp>
#include <kaio/ops/attention/common/terms.hpp>
#include <kaio/ops/shared/any_element.hpp>

#include <cstdint>
#include <limits>
#include <type_traits>

namespace kaio::ops {

//   x = general_score(x);   x += bias;   x = -inf if keep is 0, whatever x was
//
// A whole row of the bias may be the lowest finite number. Scores become exponents of two here. The softmax
// then subtracts the largest score without a product, whose error would be as large as the scores.
struct biased_score {
  static constexpr fixed_string name = "biased";

  template <class Scores, std::uint32_t Rows>
  static constexpr void tile(thread t, Scores& s, const score_origin<Rows>& origin, const val<f32>& scale,
                             const val<attention_terms>& terms, const val<attention_score_tensor>& bias,
                             const val<attention_score_tensor>& keep) {
    tile_derivative(t, s, no_derivatives{}, origin, scale, terms, bias, keep);
  }
  template <class Scores, class Derivatives, std::uint32_t Rows>
  static constexpr void tile_derivative(thread t, Scores& s, Derivatives&& derivatives,
                                        const score_origin<Rows>& origin, const val<f32>& scale,
                                        const val<attention_terms>& terms,
                                        const val<attention_score_tensor>& bias,
                                        const val<attention_score_tensor>& keep) {
    if (auto more = t.when(terms[&attention_terms::plain] == 0u)) {
      for (std::uint32_t i = 0; i < s.size(); ++i) s[i] *= scale;
      general_score::add_terms(t, s, origin, terms, derivatives);
      add_tensors(t, s, origin, bias, keep);
      constexpr f32 lowest = std::numeric_limits<f32>::lowest();
      for (std::uint32_t i = 0; i < s.size(); ++i) {
        const val exponent = t.let(s[i] * log2_of_e);
        s[i] = select(all_of(s[i] >= lowest, exponent < lowest), lowest, exponent);
      }
    }
  }
  static constexpr val<f32> factor(thread t, const val<f32>& scale, const val<attention_terms>& terms,
                                   const val<attention_score_tensor>&, const val<attention_score_tensor>&) {
    return t.let(select(terms[&attention_terms::plain] != 0u, scale * log2_of_e, 1.0f));
  }

  constexpr val<f32> operator()(thread t, val<f32> score, attention_place at, val<attention_terms> terms,
                                val<attention_score_tensor> bias, val<attention_score_tensor> keep) const {
    var x = score;
    const single_score<f32> one{&x};
    general_score::add_terms(t, one, at.alone(), terms);
    add_tensors(t, one, at.alone(), bias, keep);
    return t.let(x);
  }

 private:
  template <class Scores, std::uint32_t Rows>
  static constexpr void add_tensors(thread t, Scores& s, const score_origin<Rows>& origin,
                                    const val<attention_score_tensor>& bias,
                                    const val<attention_score_tensor>& keep) {
    using element = typename Scores::element;
    const auto add = [](auto& score, const auto& x) { score += cast<f32>(x); };
    if (auto exists = t.when(bias[&attention_score_tensor::address] != u64{0})) {
      if constexpr (std::is_same_v<element, f32>) {
        with_elements<f32>(t, s, origin, bias, add);
      } else if constexpr (std::is_same_v<element, any_element>) {
        with_any_element(t, val(bias[&attention_score_tensor::is_f32]), [&]<class A>(A) {
          with_elements<typename A::stored>(t, s, origin, bias,
                                            [](auto& score, const auto& x) { score += A::read(x); });
        });
      } else if constexpr (std::is_same_v<element, any_half>) {
        const val type = t.let(bias[&attention_score_tensor::is_f32]);
        if (auto wide = t.when(type == static_cast<u32>(element_type::f32)))
          with_elements<f32>(t, s, origin, bias, add);
        if (auto narrow = t.otherwise()) {
          const val is_bf16 = t.let(type == static_cast<u32>(element_type::bf16));
          with_elements<u16>(t, s, origin, bias, [&](auto& score, const auto& x) {
            const val bits = t.let(x);
            score += select(is_bf16, detail::stored_bf16::read(bits), cast<f32>(bit_cast<f16>(bits)));
          });
        }
      } else {
        const val is_f32 = t.let(bias[&attention_score_tensor::is_f32] != 0u);
        if (auto wide = t.when(is_f32)) with_elements<f32>(t, s, origin, bias, add);
        if (auto narrow = t.otherwise()) with_elements<element>(t, s, origin, bias, add);
      }
    }
    if (auto exists = t.when(keep[&attention_score_tensor::address] != u64{0}))
      with_elements<bool>(t, s, origin, keep, [](auto& score, const auto& kept) {
        score = select(kept, score, -std::numeric_limits<f32>::infinity());
      });
  }

  // change(score, element) for each score of a thread; elements are T. Scores outside of the sequence get an
  // arbitrary element of the tensor; the mask removes them afterwards.
  template <scalar T, class Scores, std::uint32_t Rows, class Change>
  static constexpr void with_elements(thread t, Scores& s, const score_origin<Rows>& origin,
                                      const val<attention_score_tensor>& tensor, const Change& change) {
    const val key = t.let(min(origin.key, origin.last_key));
    const val to_last = t.let(origin.last_key - key);
    const val of_key = t.let(cast<u64>(tensor[&attention_score_tensor::key]));
    const val first =
        t.let(tensor[&attention_score_tensor::address] +
              cast<u64>(origin.batch) * tensor[&attention_score_tensor::batch] +
              cast<u64>(origin.head) * tensor[&attention_score_tensor::head] + cast<u64>(key) * of_key);
    const auto row = array_of<Rows>([&](u32 r) {
      const val query = t.let(min(origin.query[r], origin.last_query));
      return t.let(first + cast<u64>(query) * tensor[&attention_score_tensor::query]);
    });
    for (std::uint32_t i = 0; i < s.size(); ++i) {
      const val at = t.let(row[s.row(i)] + cast<u64>(min(to_last, s.column(i))) * of_key);
      change(s[i], pointer_at<in<T>>(t, at)[0]);
    }
  }
};

}  // namespace kaio::ops
