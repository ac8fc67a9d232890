#pragma once
// What a caller of append_kv gives besides K, V and the cache.

#include <kaio/ops/cache/rotary/arguments.hpp>
#include <kaio/ops/shared/any_view.hpp>
#include <kaio/ops/shared/tensor_view.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace kaio::ops {

// Tables of f32, f16 or bf16, as rotary takes them.
struct rotary_table_input {
  any_view view;
  rotary_table_input() = default;
  template <class T>
  rotary_table_input(const tensor_view<T, 2>& v) : view(v) {
    static_assert(is_wide(element_kind_of<T>()), "kaio: the tables of rotary are f32, f16 or bf16");
  }
};

// Queries of the new tokens, and where they go: the elements and the number of dimensions of k.
struct append_queries {
  any_view in, out;
  append_queries() = default;
  template <class X, class Out, std::size_t Rank>
  append_queries(const tensor_view<X, Rank>& x, const tensor_view<Out, Rank>& y) : in(x), out(y) {
    static_assert(std::is_same_v<std::remove_const_t<X>, Out>,
                  "kaio: queries are written in the element type that they are read in, and not to const");
  }
};

// The rotation of K, and of Q where it is given: rotary of each, next to the append.
struct append_rotary {
  rotary_table_input cos{}, sin{};
  bool interleaved = false;
  // In place of the token's own place in its sequence, less its left padding.
  token_number_input positions{};
  // Q is not needed with every append; out may be in itself.
  append_queries q{};
  // All queries of a sequence are rotated as the first new token, as FlashAttention does without a causal
  // mask.
  bool q_at_first = false;
};

// Scales of f32: (1) for all heads, (heads), or (pages, rows, heads) of any strides, 0 for what shares them. Of
// append_kv and attention_decode (sequences, heads) too.
struct append_scale_input {
  any_view view;
  append_scale_input() = default;
  template <class T, std::size_t Rank>
  append_scale_input(const tensor_view<T, Rank>& v) : view(v) {
    static_assert(std::is_same_v<std::remove_const_t<T>, f32>, "kaio: the scales of a cache are f32");
    static_assert(Rank >= 1 && Rank <= 3,
                  "kaio: the scales of a cache are (1), (heads), (sequences, heads) or (pages, rows, heads)");
  }
};

struct append_kv_options {
  // Of append_kv_varlen: (sequences + 1), sequence b has new tokens cu_seqlens[b] to before
  // cu_seqlens[b + 1].
  tensor_view<const i32, 1> cu_seqlens{};
  // In place of the numbers of the cache: token i is row slots[i] % rows of page slots[i] / rows; a negative
  // slot is skipped.
  token_number_input slots{};
  append_rotary rotary{};
  // Of a cache of e4m3, e5m2 or i8, whose elements are x / scale: given; 1 where there are none.
  append_scale_input k_scale{}, v_scale{};
  // The same, computed for each row of a head: (pages, rows, heads), written where the row is.
  tensor_view<f32, 3> k_scale_out{}, v_scale_out{};
  // Nothing in the stream before this call writes the numbers that say where the new rows go (of the cache, cu_seqlens,
  // slots, rotary.positions): they may be read before it has ended. A hint; results do not depend on it.
  bool constant_numbers = false;
};

}  // namespace kaio::ops
