#pragma once
// A score: a function that changes scale * (q . k) before the softmax. It is a class without members. Its
// operator() states its parameters: the thread, scale * (q . k), its place, and then its own kernel
// parameters, which the launch takes last.
//
//   struct distance_penalty {
//     static constexpr fixed_string name = "distance_penalty";
//     constexpr val<f32> operator()(thread t, val<f32> x, ops::attention_place at, val<f32> slope) const {
//       return t.let(x - slope * cast<f32>(abs_diff(at.query, at.key)));
//     }
//   };
//
// It is called for places that exist, also for those that the mask removes. `name` becomes a part of the
// kernel's name. A score that does not read memory by its place may say `static constexpr bool
// reads_nothing = true`. It is then also called for places outside of the tensors, which is cheaper.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/attention/common/place.hpp>
#include <kaio/ops/attention/common/terms.hpp>

#include <algorithm>
#include <cstdint>
#include <numbers>
#include <type_traits>

namespace kaio::ops {

// The parameters that a score or a mask adds to its kernel.
template <class... Extra>
struct attention_parameters {};

namespace detail {
template <class Call>
struct score_signature {
  static_assert(
      dsl::never<Call>,
      "kaio: a score is called as val<f32> operator()(thread t, val<f32> score, attention_place at, ...) "
      "const");
};
template <class S, class... Extra>
struct score_signature<val<f32> (S::*)(thread, val<f32>, attention_place, Extra...) const> {
  static_assert((dsl::is_parameter<Extra> && ...),
                "kaio: the further parameters of a score are in<T>, inout<T> and val<T>, by value");
  using parameters = attention_parameters<Extra...>;
};

// Requires a score or a mask without members: kernels are compiled from its type alone.
template <class F>
constexpr auto require_no_members() {
  static_assert(
      std::is_empty_v<F>,
      "kaio: a score or a mask of an attention has no data members, a lambda no captures: kernels are "
      "compiled of its type alone. Make what it reads further parameters of its operator(), val<T> "
      "or in<T>, and pass their arguments after the options: docs/ops/attention.md");
  return std::is_empty<F>();
}

template <class F>
constexpr auto name_of_attention_function() {
  if constexpr (requires { F::name; })
    return F::name;
  else
    return fixed_string("custom");
}
}  // namespace detail

// "128", or "192v128" if rows of V are shorter: a part of a kernel's name.
template <std::uint32_t DepthQk, std::uint32_t DepthV>
inline constexpr auto attention_depth_name = [] {
  if constexpr (DepthQk == DepthV)
    return decimal<DepthQk>;
  else
    return decimal<DepthQk> + "v" + decimal<DepthV>;
}();

template <class S>
using parameters_of_score = typename detail::score_signature<decltype(&S::operator())>::parameters;

template <class S>
concept attention_score =
    detail::require_no_members<S>().value && requires { typename parameters_of_score<S>; };

// The name of a score or a mask.
template <class F>
inline constexpr auto attention_function_name = detail::name_of_attention_function<F>();

// The origin of the places, and the place of score i. Both stay within the tensors unless the score or mask
// says `reads_nothing`, since it may read memory by them.
template <class F, std::uint32_t Rows>
constexpr score_origin<Rows> origin_for(thread t, const score_origin<Rows>& origin) {
  if constexpr (requires { F::reads_nothing; })
    return origin;
  else
    return origin.existing(t);
}
template <class F, class Scores, std::uint32_t Rows>
constexpr attention_place place_for(thread t, const Scores& s, const score_origin<Rows>& origin,
                                    std::uint32_t i) {
  if constexpr (requires { F::reads_nothing; })
    return origin.at(t, s, i);
  else
    return origin.inside(t, s, i);
}

// Turns a score into an exponent of two: exp(x) = exp2(x * log2(e)).
inline constexpr f32 log2_of_e = std::numbers::log2e_v<f32>;

// Turns all products of a thread into scores, still without the factor that `exponent_factor` gives. A score
// with a function `tile` processes them together.
template <class Score, class Scores, std::uint32_t Rows, class... Extra>
constexpr void apply_score(thread t, Scores& s, const score_origin<Rows>& origin, const val<f32>& scale,
                           const Extra&... extra) {
  if constexpr (requires { Score::tile(t, s, origin, scale, extra...); }) {
    Score::tile(t, s, origin, scale, extra...);
  } else {
    const score_origin<Rows> from = origin_for<Score>(t, origin);
    for (std::uint32_t i = 0; i < s.size(); ++i)
      s[i] = Score{}(t, t.let(s[i] * scale), place_for<Score>(t, s, from, i), extra...);
  }
}
template <class Score, class... Extra>
constexpr val<f32> exponent_factor(thread t, const val<f32>& scale, const Extra&... extra) {
  if constexpr (requires { Score::factor(t, scale, extra...); })
    return Score::factor(t, scale, extra...);
  else
    return t.let(log2_of_e);
}

// x = scale * (q . k), for scale > 0.
struct plain_score {
  static constexpr fixed_string name = "plain";
  static constexpr bool reads_nothing = true;

  // The scale is part of the factor.
  template <class Scores, std::uint32_t Rows>
  static constexpr void tile(thread, Scores&, const score_origin<Rows>&, const val<f32>&) {}
  static constexpr val<f32> factor(thread t, const val<f32>& scale) { return t.let(scale * log2_of_e); }

  // For attention_backward: no derivative changes.
  template <class Scores, class Derivatives, std::uint32_t Rows>
  static constexpr void tile_derivative(thread, Scores&, Derivatives&, const score_origin<Rows>&,
                                        const val<f32>&) {}

  constexpr val<f32> operator()(thread, val<f32> x, attention_place) const { return x; }
};

// Replaces an array of derivatives.
struct no_derivatives {};

// cap * tanh(u) with u = scale * x / cap, at a relative error of about 2^-17 for every cap. The exponential
// of 2 u gives it with an error of 2^-22 of the cap, so a small u takes u - u^3 / 3 instead.
class bent_score {
 public:
  constexpr bent_score(thread t, const val<f32>& cap, const val<f32>& scale)
      : twice_cap_(t.let(2.0f * cap)), narrow_(t.let(0.5f * scale / cap)) {}

  // u / 2
  constexpr val<f32> half(thread t, const var<f32>& x) const { return t.let(x * narrow_); }
  // (1 - tanh u) / 2
  static constexpr val<f32> share(thread t, const val<f32>& half) {
    return t.let(fast::ftz::rcp(fast::ftz::exp2(half * (4.0f * log2_of_e)) + 1.0f));
  }
  constexpr auto operator()(thread t, const val<f32>& half, const val<f32>& share) const {
    const val square = t.let(half * half);
    return twice_cap_ * select(square < 0x1p-11f, fma(half * square, -4.0f / 3.0f, half), 0.5f - share);
  }
  constexpr auto operator()(thread t, const var<f32>& x) const {
    const val u = half(t, x);
    return operator()(t, u, share(t, u));
  }

 private:
  val<f32> twice_cap_, narrow_;
};

// The score of the prebuilt attention: a soft cap, then ALiBi, each chosen at the launch.
//
//   x = scale * (q . k);   x = cap * tanh(x / cap);   x -= slope * |query + keys - queries - key|
//
// Sources: Gemma Team, "Gemma 2", 2024 (soft cap); Press et al., "Train Short, Test Long", 2022 (ALiBi).
struct general_score {
  static constexpr fixed_string name = "general";

  template <class Scores, std::uint32_t Rows>
  static constexpr void tile(thread t, Scores& s, const score_origin<Rows>& origin, const val<f32>& scale,
                             const val<attention_terms>& terms) {
    if (auto more = t.when(terms[&attention_terms::plain] == 0u)) {
      if constexpr (requires { Scores::in_pairs; }) {
        scale_and_add_terms(t, s, origin, scale, terms);
      } else {
        for (std::uint32_t i = 0; i < s.size(); ++i) s[i] *= scale;
        add_terms(t, s, origin, terms);
      }
    }
  }
  static constexpr val<f32> factor(thread t, const val<f32>& scale, const val<attention_terms>& terms) {
    return t.let(select(terms[&attention_terms::plain] != 0u, scale * log2_of_e, log2_of_e));
  }

  template <class Scores, class Derivatives, std::uint32_t Rows>
  static constexpr void tile_derivative(thread t, Scores& s, Derivatives& derivatives,
                                        const score_origin<Rows>& origin, const val<f32>& scale,
                                        const val<attention_terms>& terms) {
    if (auto more = t.when(terms[&attention_terms::plain] == 0u)) {
      for (std::uint32_t i = 0; i < s.size(); ++i) s[i] *= scale;
      add_terms(t, s, origin, terms, derivatives);
    }
  }

  constexpr val<f32> operator()(thread t, val<f32> score, attention_place at,
                                val<attention_terms> terms) const {
    var x = score;
    const single_score<f32> one{&x};
    add_terms(t, one, at.alone(), terms);
    return t.let(x);
  }

  // All terms except the scale. derivatives[i], if given, is multiplied by the derivative of score i.
  template <class Scores, std::uint32_t Rows, class Derivatives = no_derivatives>
  static constexpr void add_terms(thread t, Scores& s, const score_origin<Rows>& origin,
                                  const val<attention_terms>& terms, Derivatives&& derivatives = {}) {
    constexpr bool differentiates = !std::is_same_v<std::remove_cvref_t<Derivatives>, no_derivatives>;
    const val cap = t.let(terms[&attention_terms::softcap]);
    if (auto capped = t.when(cap != 0.0f)) {
      const bent_score bent(t, cap, t.let(val(1.0f)));
      for (std::uint32_t i = 0; i < s.size(); ++i)
        if constexpr (differentiates && requires { Scores::exact; }) {
          const val share = t.let(tanh(s[i] / cap));
          derivatives[i] *= 1.0f - share * share;
          s[i] = cap * share;
        } else if constexpr (differentiates) {
          const val half = bent.half(t, s[i]);
          const val share = bent.share(t, half);
          derivatives[i] *= 4.0f * share * (1.0f - share);
          s[i] = bent(t, half, share);
        } else if constexpr (requires { Scores::exact; })
          s[i] = cap * tanh(s[i] / cap);
        else
          s[i] = bent(t, s[i]);
    }
    if (auto linear = t.when(terms[&attention_terms::alibi] != 0u)) {
      const val slope = slope_of(t, origin, terms);
      // Distances count from the first key; f32 holds them exactly up to 2^24.
      const auto apart = array_of<Rows>([&](u32 r) {
        return t.let(cast<f32>(cast<i32>(origin.query[r]) + origin.offset - cast<i32>(origin.key)));
      });
      for (std::uint32_t i = 0; i < s.size(); ++i)
        s[i] -= slope * abs(apart[s.row(i)] - static_cast<f32>(s.column(i)));
    }
  }

 private:
  // The scale and add_terms in fewer instructions per score, for kernels that spend most of their time there.
  template <class Scores, std::uint32_t Rows>
  static constexpr void scale_and_add_terms(thread t, Scores& s, const score_origin<Rows>& origin,
                                            const val<f32>& scale, const val<attention_terms>& terms) {
    const val cap = t.let(terms[&attention_terms::softcap]);
    const val is_linear = t.let(terms[&attention_terms::alibi] != 0u);
    var<f32> by(t, scale);  // factor of the scores before ALiBi
    if (auto capped = t.when(cap != 0.0f)) {
      cap_scores(t, s, cap, scale);
      by = 1.0f;
    }
    // Without ALiBi the slope is 0: the scores are only scaled.
    if (auto scaled = t.when(any_of(is_linear, cap == 0.0f))) {
      var<f32> slope(t, 0.0f);
      if (auto linear = t.when(is_linear)) slope = slope_of(t, origin, terms);
      add_distances(t, s, origin, t.let(slope), t.let(by));
    }
  }

  // s = cap * tanh(scale * s / cap). bf16 uses tanh.approx: its relative error of 2^-11 is a quarter of the
  // error of rounding a score to bf16.
  template <class Scores>
  static constexpr void cap_scores(thread t, Scores& s, const val<f32>& cap, const val<f32>& scale) {
    if constexpr (std::is_same_v<typename Scores::element, bf16>) {
      const val narrow = t.let(scale / cap);
      for (std::uint32_t i = 0; i < s.size(); ++i) s[i] = cap * fast::tanh(s[i] * narrow);
    } else {
      const bent_score bent(t, cap, scale);
      for (std::uint32_t i = 0; i < s.size(); ++i) s[i] = bent(t, s[i]);
    }
  }

  // s = s * by - slope * |distance|. Mostly all keys are on one side of the queries, where the distance is
  // linear.
  template <class Scores, std::uint32_t Rows>
  static constexpr void add_distances(thread t, Scores& s, const score_origin<Rows>& origin,
                                      const val<f32>& slope, const val<f32>& by) {
    // Distances count from the first key; f32 holds them exactly up to 2^24.
    const auto apart = array_of<Rows>([&](u32 r) {
      return t.let(cast<f32>(cast<i32>(origin.query[r]) + origin.offset - cast<i32>(origin.key)));
    });
    std::uint32_t last = 0;
    for (std::uint32_t i = 0; i < s.size(); ++i) last = std::max(last, s.column(i));
    var<f32> least(t, apart[0]), most(t, apart[0]);
    for (u32 r = 1; r < Rows; ++r) {
      least = min(least, apart[r]);
      most = max(most, apart[r]);
    }
    const val before = t.let(least >= static_cast<f32>(last));
    if (auto one_side = t.when(any_of(before, most <= 0.0f))) {
      const val rise = t.let(select(before, slope, -slope));
      const auto first = array_of<Rows>([&](u32 r) { return t.let(-rise * apart[r]); });
      for (std::uint32_t i = 0; i < s.size(); ++i)
        s[i] = fma(s[i], by, fma(rise, static_cast<f32>(s.column(i)), first[s.row(i)]));
    }
    if (auto both_sides = t.otherwise()) {
      const val down = t.let(-slope);
      for (std::uint32_t i = 0; i < s.size(); ++i)
        s[i] = fma(s[i], by, down * abs(apart[s.row(i)] - static_cast<f32>(s.column(i))));
    }
  }

  template <std::uint32_t Rows>
  static constexpr val<f32> slope_of(thread t, const score_origin<Rows>& origin,
                                     const val<attention_terms>& terms) {
    const val at = t.let(cast<i64>(origin.batch) * terms[&attention_terms::alibi_batch] +
                         cast<i64>(origin.head) * terms[&attention_terms::alibi_head]);
    return t.let(pointer_at<in<f32>>(t, t.let(terms[&attention_terms::alibi]))[at]);
  }
};

}  // namespace kaio::ops
