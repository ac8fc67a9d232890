#pragma once
// The norm of each head of Q and K, and their rotary position embedding, in one launch; in place or not.
//
//   qk_norm_rotary(s, q, k, {.q_norm = w, .k_norm = w, .cos = cos, .sin = sin, .rotary = {.positions = p}});
//   qk_norm_rotary(s, q, k, q_out, k_out, options);
//
// For each head x of (B, S, H, D):
//
//   h = x / rms(x) * (weight_offset + norm)   if the norm is given: f32, rounded
//   rms(x) = sqrt(mean of x^2 + epsilon)
//   y = h rotated by the token's position     if cos and sin are given: as rotary, rounded
//
// Q, K and V packed into one tensor (B, S, Hq + 2 Hkv, D) are slices of it. Nothing is allocated, read back
// or waited for, so a call may be captured into a graph. Throws invalid_argument, which names the argument,
// before anything runs; and what a launch throws.
//
// Sources: Henry et al., "Query-Key Normalization for Transformers", 2020; rotary.hpp.

#include <kaio/ops/shared/view_refusal.hpp>  // first: errors begin with the chain of includes

#include <kaio/ops/rotary.hpp>
#include <kaio/ops/shared/any_view.hpp>
#include <kaio/runtime/stream.hpp>

#include <cstddef>
#include <type_traits>

namespace kaio::ops {

struct qk_norm_rotary_options {
  any_view q_norm{}, k_norm{};  // (D), of the type of q or f32; a head without is not normed
  f32 epsilon = 1e-6f;
  f32 weight_offset = 0;  // 1 for Gemma
  any_view cos{}, sin{};  // as rotary takes them; not given: nothing is rotated
  rotary_options rotary{};
};

namespace detail {
void run_qk_norm_rotary(const stream& s, const any_view& q, const any_view& k, const any_view& q_out,
                        const any_view& k_out, const qk_norm_rotary_options& options);

template <class Q, class K, class QOut, class KOut, std::size_t Rank>
constexpr void require_qk_types() {
  using element = std::remove_const_t<Q>;
  static_assert(is_rotary_element<element>, "kaio: the elements of qk_norm_rotary are f32, f16 or bf16");
  static_assert(
      std::is_same_v<element, std::remove_const_t<K>> && std::is_same_v<element, QOut> &&
          std::is_same_v<element, KOut>,
      "kaio: q, k and the outputs of qk_norm_rotary have one element type, and the outputs are not const");
  static_assert(
      Rank == 3 || Rank == 4,
      "kaio: qk_norm_rotary takes (batches, tokens, heads, size) or, with positions or cu_seqlens, (tokens, "
      "heads, size)");
}
}  // namespace detail

// q: (B, S, Hq, D), k: (B, S, Hk, D); or (tokens, H, D) with options.rotary.cu_seqlens or positions, if they
// are rotated. f32, f16 or bf16, any strides whose last one is 1, D <= 512. Each output is its input, element
// by element, or apart from everything else. A null view of k leaves it out. B * S * (Hq + Hk) is below 2^32.
// Tokens that cu_seqlens gives to no sequence are not written.
template <class Q, class K, class QOut, class KOut, std::size_t Rank>
void qk_norm_rotary(const stream& s, const tensor_view<Q, Rank>& q, const tensor_view<K, Rank>& k,
                    const tensor_view<QOut, Rank>& q_out, const tensor_view<KOut, Rank>& k_out,
                    const qk_norm_rotary_options& options) {
  detail::require_qk_types<Q, K, QOut, KOut, Rank>();
  detail::run_qk_norm_rotary(s, q, k, q_out, k_out, options);
}
// In place.
template <class Q, class K, std::size_t Rank>
void qk_norm_rotary(const stream& s, const tensor_view<Q, Rank>& q, const tensor_view<K, Rank>& k,
                    const qk_norm_rotary_options& options) {
  detail::require_qk_types<Q, K, Q, K, Rank>();
  detail::run_qk_norm_rotary(s, q, k, q, k, options);
}

// Loads the kernel ahead of its first use.
void qk_norm_rotary_warmup(const runtime::device& gpu);

}  // namespace kaio::ops

namespace kaio {
using ops::qk_norm_rotary;
using ops::qk_norm_rotary_options;
using ops::qk_norm_rotary_warmup;
}  // namespace kaio
