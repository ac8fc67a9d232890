#pragma once
// The sum over ranks, the addition of a residual, and the RMS norm of rows: what follows a product that is divided among
// ranks in a transformer.
//
//   all_reduce_rms_norm(w, s, x, weight, y, {.residual = h, .residual_out = h});   // h = h + sum of x; y = its norm
//   all_reduce_rms_norm(w, s, x, weight, codes, scales, {.residual = h, ...});     // y ~ codes * scales[row]
//
//   x = sum of x of all ranks                    f32, rank 0 first, rounded once to T
//   then rms_norm(x, weight, ...) as rms_norm.hpp defines it
//
// Up to one_shot_bytes of the workspace, x into its own type is one kernel: 1 to some 64 rows of a model. A row of it
// has the same bits alone and among others, and on all ranks; its sum of squares has another order than that of
// rms_norm. Otherwise it is all_reduce and rms_norm, with their bits. Throws invalid_argument, which names the argument,
// on all ranks, before anything is sent; communication_error; and what a launch throws.

#include <kaio/ops/shared/view_refusal.hpp>  // first: errors begin with the chain of includes

#include <kaio/ops/distributed/peer_workspace.hpp>
#include <kaio/ops/norm/call/arguments.hpp>
#include <kaio/ops/shared/any_view.hpp>
#include <kaio/ops/shared/tensor_view.hpp>
#include <kaio/runtime/stream.hpp>

#include <cstddef>
#include <type_traits>

namespace kaio::ops {

namespace detail {

void run_all_reduce_rms_norm(const peer_workspace& w, const stream& s, const any_view& x,
                             const any_view& weight, const any_view& out, const rms_norm_options& options);
// As run_rms_norm_codes.
void run_all_reduce_rms_norm_codes(const peer_workspace& w, const stream& s, const any_view& x,
                                   const any_view& weight, const any_view& codes, const any_view& scales,
                                   f32 scale, const rms_norm_options& options);

}  // namespace detail

// x, out: (rows, size) with adjacent neighbours, f32, f16 or bf16; weight: (size), of x's type or f32. If one kernel does
// not serve the call, x and out have no gaps. out is x itself, or apart from it, and apart from everything else.
template <class X, class Weight, class Out>
  requires(!detail::norm_code<Out>)
void all_reduce_rms_norm(const peer_workspace& w, const stream& s, const tensor_view<X, 2>& x,
                         const tensor_view<Weight, 1>& weight, const tensor_view<Out, 2>& out,
                         const rms_norm_options& options = {}) {
  detail::require_norm_types<X, Weight, Out, 2>();
  detail::run_all_reduce_rms_norm(w, s, x, weight, out, options);
}
// Into codes of i8 or e4m3, as rms_norm. x has no gaps, and becomes the sum of all ranks. scales: f32, one for each row.
template <class X, class Weight, detail::norm_code Code>
void all_reduce_rms_norm(const peer_workspace& w, const stream& s, const tensor_view<X, 2>& x,
                         const tensor_view<Weight, 1>& weight, const tensor_view<Code, 2>& codes,
                         const tensor_view<f32, 1>& scales, const rms_norm_options& options = {}) {
  static_assert(!std::is_const_v<X>, "kaio: x becomes the sum of all ranks; its elements are not const");
  detail::require_norm_types<X, Weight, Code, 2>();
  detail::run_all_reduce_rms_norm_codes(w, s, x, weight, codes, scales, 0, options);
}
// Into codes with a scale for each 128 neighbours of a row: groups (rows, ceil(size / 128)).
template <class X, class Weight, detail::norm_code Code>
void all_reduce_rms_norm(const peer_workspace& w, const stream& s, const tensor_view<X, 2>& x,
                         const tensor_view<Weight, 1>& weight, const tensor_view<Code, 2>& codes,
                         const tensor_view<f32, 2>& groups, const rms_norm_options& options = {}) {
  static_assert(!std::is_const_v<X>, "kaio: x becomes the sum of all ranks; its elements are not const");
  detail::require_norm_types<X, Weight, Code, 2>();
  detail::run_all_reduce_rms_norm_codes(w, s, x, weight, codes, groups, 0, options);
}
// Into codes by a known scale, above 0 and finite.
template <class X, class Weight, detail::norm_code Code>
void all_reduce_rms_norm(const peer_workspace& w, const stream& s, const tensor_view<X, 2>& x,
                         const tensor_view<Weight, 1>& weight, const tensor_view<Code, 2>& codes, f32 scale,
                         const rms_norm_options& options = {}) {
  static_assert(!std::is_const_v<X>, "kaio: x becomes the sum of all ranks; its elements are not const");
  detail::require_norm_types<X, Weight, Code, 2>();
  detail::run_all_reduce_rms_norm_codes(w, s, x, weight, codes, {}, scale, options);
}
// Refuses arguments that are no such views.
template <class X, class Weight, class Out>
  requires(!(detail::views<0, X, Out> && detail::views<1, Weight>))
void all_reduce_rms_norm(const peer_workspace&, const stream&, const X&, const Weight&, const Out&,
                         const rms_norm_options& = {}) {
  detail::refuse_views<X, Weight, Out>();
}

}  // namespace kaio::ops

namespace kaio {
using ops::all_reduce_rms_norm;
}  // namespace kaio
