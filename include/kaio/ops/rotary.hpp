#pragma once
// Rotary position embedding: turns each pair of elements of a head by an angle, the token's position times
// the pair's frequency.
//
//   tensor_view<f32, 2> cos(c, 4096, 64), sin(d, 4096, 64);             // positions, half of the head size
//   rotary_table(s, cos, sin, {.base = 500000});                        // once
//   rotary(s, q, q, cos, sin, {.offsets = lengths});                    // (B, S, H, 128), in place
//
// Extent 1 of the tables is P pairs. Elements 0 to 2 P - 1 of each head are rotated, the rest is copied:
//
//   y0 = x0 cos - x1 sin     y1 = x1 cos + x0 sin     in f32, rounded once to the element type
//
// Nothing is allocated, read back or waited for, so a call may be captured into a graph; a kernel is loaded
// when it is first used on a device (rotary_warmup). Throws invalid_argument, which names the argument,
// before anything runs; and what a launch throws.
//
// Sources: Su et al., "RoFormer: Enhanced Transformer with Rotary Position Embedding", 2021; Peng et al.,
// "YaRN: Efficient Context Window Extension of Large Language Models", 2023; the Llama 3.1 model card.

#include <kaio/ops/shared/view_refusal.hpp>  // first: errors begin with the chain of includes

#include <kaio/ops/cache/rotary/arguments.hpp>
#include <kaio/runtime/stream.hpp>

#include <cstddef>
#include <type_traits>

namespace kaio::runtime {
class device;
}

namespace kaio::ops {

namespace detail {
void run_rotary(const stream& s, const any_view& x, const any_view& out, const any_view& cos,
                const any_view& sin, const rotary_options& options);
void run_rotary_table(const stream& s, const any_view& cos, const any_view& sin,
                      const rotary_table_options& options);

template <class T>
inline constexpr bool is_rotary_element =
    std::is_same_v<T, f32> || std::is_same_v<T, f16> || std::is_same_v<T, bf16>;

template <class X, class Out, class Cos, class Sin>
constexpr void require_rotary_types() {
  using element = std::remove_const_t<X>;
  using of_table = std::remove_const_t<Cos>;
  static_assert(is_rotary_element<element>, "kaio: the elements of rotary are f32, f16 or bf16");
  static_assert(std::is_same_v<element, Out>,
                "kaio: the output of rotary has the element type of its input, and is not const");
  static_assert(is_rotary_element<of_table> && std::is_same_v<of_table, std::remove_const_t<Sin>>,
                "kaio: the tables of rotary are both f32, both f16 or both bf16");
}
}  // namespace detail

// x, out: (B, S, H, D), f32, f16 or bf16, any strides whose last one is 1; pass (B, H, S, D) by exchanged(1,
// 2). out is x itself, element by element, or apart from it. cos, sin: (positions, P), f32, f16 or bf16, 2 P
// <= D <= 512; rows of any stride, neighbours adjacent. If the tables have no row for a token's position, its
// rotated elements become NaN. B, S and H may be 0; B * S * H is below 2^32.
template <class X, class Out, class Cos, class Sin>
void rotary(const stream& s, const tensor_view<X, 4>& x, const tensor_view<Out, 4>& out,
            const tensor_view<Cos, 2>& cos, const tensor_view<Sin, 2>& sin,
            const rotary_options& options = {}) {
  detail::require_rotary_types<X, Out, Cos, Sin>();
  detail::run_rotary(s, x, out, cos, sin, options);
}
// Refuses arguments that are no such views.
template <class X, class Out, class Cos, class Sin>
  requires(!(detail::views<4, X, Out> && detail::views<2, Cos, Sin>))
void rotary(const stream&, const X&, const Out&, const Cos&, const Sin&, const rotary_options& = {}) {
  detail::refuse_views<X, Out, Cos, Sin>();
}

// rotary for (tokens of all sequences, H, D), with options.cu_seqlens or options.positions. Tokens that
// cu_seqlens gives to no sequence are not written.
template <class X, class Out, class Cos, class Sin>
void rotary_varlen(const stream& s, const tensor_view<X, 3>& x, const tensor_view<Out, 3>& out,
                   const tensor_view<Cos, 2>& cos, const tensor_view<Sin, 2>& sin,
                   const rotary_options& options) {
  detail::require_rotary_types<X, Out, Cos, Sin>();
  detail::run_rotary(s, x, out, cos, sin, options);
}
// Refuses arguments that are no such views.
template <class X, class Out, class Cos, class Sin>
  requires(!(detail::views<3, X, Out> && detail::views<2, Cos, Sin>))
void rotary_varlen(const stream&, const X&, const Out&, const Cos&, const Sin&, const rotary_options&) {
  detail::refuse_views<X, Out, Cos, Sin>();
}

// cos and sin: (positions, P) of f32, f16 or bf16. Row p has those of (first_position + p) * frequency_i for
// i below P; frequency_i = base^(-i / P), as `scaling` changes it. Computed in double precision and rounded
// once: right for positions up to 2^32, where the angle of a pair of frequency 1 is known to 2^-20.
template <class Cos, class Sin>
void rotary_table(const stream& s, const tensor_view<Cos, 2>& cos, const tensor_view<Sin, 2>& sin,
                  const rotary_table_options& options = {}) {
  static_assert(detail::is_rotary_element<Cos> && std::is_same_v<Cos, Sin>,
                "kaio: the tables of rotary are both f32, both f16 or both bf16, and not const");
  detail::run_rotary_table(s, cos, sin, options);
}
// Refuses arguments that are no such views.
template <class Cos, class Sin>
  requires(!(detail::views<2, Cos, Sin>))
void rotary_table(const stream&, const Cos&, const Sin&, const rotary_table_options& = {}) {
  detail::refuse_views<Cos, Sin>();
}

// Loads the kernels of rotary and rotary_table ahead of their first use.
void rotary_warmup(const runtime::device& gpu);

}  // namespace kaio::ops

namespace kaio {
using ops::rotary;
using ops::rotary_options;
using ops::rotary_scaling;
using ops::rotary_table;
using ops::rotary_table_options;
using ops::rotary_varlen;
using ops::rotary_warmup;
}  // namespace kaio
