#pragma once
// The arguments of attention_backward, in addition to those of the attention that is differentiated.

#include <kaio/ops/attention/common/arguments.hpp>
#include <kaio/ops/shared/workspace.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace kaio::ops {

// A gradient to write, with the element type of its tensor. It is empty if the gradient is not wanted.
struct attention_gradient {
  attention_view view;
  attention_gradient() = default;
  template <detail::without_view M>
  attention_gradient(const M&) {
    detail::refuse_views<M>();
  }
  template <class T, std::size_t Rank>
  attention_gradient(const tensor_view<T, Rank>& v) : view(v) {
    static_assert(!std::is_const_v<T>,
                  "kaio: a gradient is written to a view of elements that are not const");
  }
};

// One f32 per query, with the shape of the option `lse` of attention.
struct attention_row_input {
  attention_view view;
  attention_row_input() = default;
  template <detail::without_view M>
  attention_row_input(const M&) {
    detail::refuse_views<M>();
  }
  template <class T, std::size_t Rank>
  attention_row_input(const tensor_view<T, Rank>& v) : view(v) {
    static_assert(
        Rank == 2 || Rank == 3,
        "kaio: the log-sum-exp of an attention is (batches, heads, queries); of attention_varlen (heads, rows)");
    static_assert(std::is_same_v<std::remove_const_t<T>, f32>,
                  "kaio: the log-sum-exp of an attention is f32");
  }
};

struct attention_backward_options {
  // The options of the attention that is differentiated. `lse` is not written. `precision` is not used:
  // products of f32 are exact. `blocks` and `variant` are refused.
  attention_options forward{};
  attention_row_input dlse{};  // the gradient of lse, with its shape
  // The gradient of the bias, with its extents, in f32 or the type of q. It is summed along extents of 1.
  attention_gradient dbias{};
  attention_gradient dsinks{};  // (heads): f32, f16 or bf16
  workspace_view workspace{};   // attention_backward_workspace_bytes, at a multiple of 16 bytes
};

namespace detail {

// A call before it is checked.
struct attention_backward_arguments {
  std::string_view operation;
  attention_view dout, q, k, v, out, lse;
  attention_view dq, dk, dv;
  const attention_backward_options* options;
  bool own_score = false, own_mask = false;        // the caller's
  const attention_sequences* sequences = nullptr;  // not null: tensors are (rows, heads, head size)
  bool with_functions = false;                     // attention_backward_with
};

}  // namespace detail

}  // namespace kaio::ops
