#pragma once
// The outputs of a token's experts, added with weights.
//
//   combine_experts(s, y, weights, positions, out);
//                            // out[token, :] = sum of weights[token, j] * y[positions[token, j], :] over all j
//
// `weights` is of topk_router, `positions` of sort_by_expert. Sums are f32, in the order of j, and are rounded
// once: equal calls give equal bits. A position that is negative, or not below the rows of y, adds nothing. Nothing
// is allocated, read back or waited for, so a call may be captured into a graph; a kernel is loaded when it is
// first used on a device (combine_experts_warmup). Throws invalid_argument, which names the argument, before
// anything runs; and what a launch throws.

#include <kaio/ops/shared/view_refusal.hpp>  // first: errors begin with the chain of includes

#include <kaio/dsl/number/half.hpp>
#include <kaio/ops/shared/any_view.hpp>
#include <kaio/ops/shared/tensor_view.hpp>
#include <kaio/runtime/stream.hpp>

#include <type_traits>

namespace kaio::runtime {
class device;
}

namespace kaio::ops {

struct combine_experts_options {
  bool accumulate = false;  // adds to out, as to the output of a shared expert
};

namespace detail {
void run_combine_experts(const stream& s, const any_view& y, const any_view& weights,
                         const any_view& positions, const any_view& out,
                         const combine_experts_options& options);
}  // namespace detail

// y: (rows, size), f32, f16 or bf16. weights: (tokens, k), f32; positions: (tokens, k), i32. out: (tokens, size),
// of y's type or f32, apart from everything else. Rows of any stride, neighbours adjacent; fewer than 2^31 rows and
// tokens, a size below 2^29. Fastest if rows begin at multiples of 16 bytes.
template <class Y, class Weight, class Position, class Out>
void combine_experts(const stream& s, const tensor_view<Y, 2>& y, const tensor_view<Weight, 2>& weights,
                     const tensor_view<Position, 2>& positions, const tensor_view<Out, 2>& out,
                     const combine_experts_options& options = {}) {
  static_assert(is_wide(element_kind_of<Y>()), "kaio: the elements of combine_experts are f32, f16 or bf16");
  static_assert(std::is_same_v<std::remove_const_t<Weight>, f32>,
                "kaio: the weights of combine_experts are f32");
  static_assert(std::is_same_v<std::remove_const_t<Position>, i32>,
                "kaio: the positions of combine_experts are i32");
  static_assert(std::is_same_v<std::remove_const_t<Y>, Out> || std::is_same_v<Out, f32>,
                "kaio: the output of combine_experts has the element type of y, or f32, and is not const");
  detail::run_combine_experts(s, y, weights, positions, out, options);
}
// Refuses arguments that are no such views.
template <class Y, class Weight, class Position, class Out>
  requires(!detail::views<2, Y, Weight, Position, Out>)
void combine_experts(const stream&, const Y&, const Weight&, const Position&, const Out&,
                     const combine_experts_options& = {}) {
  detail::refuse_views<Y, Weight, Position, Out>();
}

// Loads the kernel for elements of `kind` ahead of its first use.
void combine_experts_warmup(const runtime::device& gpu, element_kind kind);

}  // namespace kaio::ops

namespace kaio {
using ops::combine_experts;
using ops::combine_experts_options;
using ops::combine_experts_warmup;
using ops::element_kind;
}  // namespace kaio
