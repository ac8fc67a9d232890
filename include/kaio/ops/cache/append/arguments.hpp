#pragma once
// What a caller of append_kv gives besides K, V and the cache.

#include <kaio/ops/cache/rotary/arguments.hpp>
#include <kaio/ops/shared/any_view.hpp>
#include <kaio/ops/shared/constant_inputs.hpp>
#include <kaio/ops/shared/tensor_view.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace kaio::ops {

// Tables of f32, f16 or bf16, as rotary takes them.
struct rotary_table_input {
  any_view view;
  rotary_table_input() = default;
  template <detail::without_view M>
  rotary_table_input(const M&) {
    detail::refuse_views<M>();
  }
  template <class T>
  rotary_table_input(const tensor_view<T, 2>& v) : view(v) {
    static_assert(is_wide(element_kind_of<T>()), "kaio: the tables of rotary are f32, f16 or bf16");
  }
};

// Queries of the new tokens, and their destination: with the element type and the number of dimensions of k.
struct append_queries {
  any_view in, out;
  append_queries() = default;
  template <class X, class Out, std::size_t Rank>
  append_queries(const tensor_view<X, Rank>& x, const tensor_view<Out, Rank>& y) : in(x), out(y) {
    static_assert(std::is_same_v<std::remove_const_t<X>, Out>,
                  "kaio: queries are written in the element type that they are read in, and not to const");
  }
};

// The rotation of K, and of Q if it is given: as by rotary, in the launch of the append.
struct append_rotary {
  rotary_table_input cos{}, sin{};
  bool interleaved = false;
  // Positions of the tokens. If not given: the number of the token's key, less its sequence's left padding.
  token_number_input positions{};
  // Q may be left out; out may be in itself.
  append_queries q{};
  // Rotates all queries of a sequence as the first new token, as FlashAttention does without a causal mask.
  bool q_at_first = false;
};

// Scales of f32: (1) for all heads, (heads), or (pages, rows, heads) of any strides; stride 0 shares a scale.
// append_kv and attention_decode also take (sequences, heads).
struct append_scale_input {
  any_view view;
  append_scale_input() = default;
  template <detail::without_view M>
  append_scale_input(const M&) {
    detail::refuse_views<M>();
  }
  template <class T, std::size_t Rank>
  append_scale_input(const tensor_view<T, Rank>& v) : view(v) {
    static_assert(std::is_same_v<std::remove_const_t<T>, f32>, "kaio: the scales of a cache are f32");
    static_assert(Rank >= 1 && Rank <= 3,
                  "kaio: the scales of a cache are (1), (heads), (sequences, heads) or (pages, rows, heads)");
  }
};

struct append_kv_options {
  // For append_kv_varlen, (sequences + 1): sequence b has new tokens cu_seqlens[b] to before cu_seqlens[b +
  // 1].
  tensor_view<const i32, 1> cu_seqlens{};
  // Used in place of the numbers of the cache: token i is row slots[i] % rows of page slots[i] / rows. A
  // token with a negative slot is skipped.
  token_number_input slots{};
  append_rotary rotary{};
  // Given scales of a cache of e4m3, e5m2 or i8, whose elements are x / scale; 1 if there are none.
  append_scale_input k_scale{}, v_scale{};
  // Computed scales, one for each row of a head: (pages, rows, heads), written where the row is.
  tensor_view<f32, 3> k_scale_out{}, v_scale_out{};
  // With indices, nothing in the stream before this call writes the numbers that place the new rows (of the
  // cache, cu_seqlens, slots, rotary.positions). They may be read before that work has ended. A hint; results
  // do not depend on it.
  constant_inputs constant = constant_inputs::none;  // indices
};

}  // namespace kaio::ops
