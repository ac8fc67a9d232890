#pragma once
// What a caller of gate_up_project gives: weights, and options.

#include <kaio/ops/shared/workspace.hpp>
#include <kaio/ops/matmul/common/terms.hpp>
#include <kaio/ops/weight_only/call/projection_weight.hpp>
#include <kaio/ops/norm/call/x_norm.hpp>
#include <kaio/ops/shared/any_view.hpp>
#include <kaio/ops/shared/tensor_view.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace kaio::ops {

// One weight of both, the rows of the gate first, then those of up; or two.
struct gate_up_weights {
  std::array<projection_weight, 2> of{};
  std::uint32_t count = 1;
  template <class W>
    requires std::is_constructible_v<projection_weight, const W&>
  gate_up_weights(const W& both) : of{projection_weight(both)} {}
  gate_up_weights(const projection_weight& gate, const projection_weight& up) : of{gate, up}, count(2) {}
};

// A vector of the element type of the output.
struct gate_up_vector {
  any_view view;
  gate_up_vector() = default;
  template <class T>
  gate_up_vector(const tensor_view<T, 1>& v) : view(v) {
    static_assert(is_wide(element_kind_of<T>()),
                  "kaio: the biases of gate_up_project have the element type of its output");
  }
};

struct gate_up_options {
  matmul_activation activation = matmul_activation::silu;
  gate_up_vector gate_bias{}, up_bias{};  // (F)
  ops::x_norm x_norm{};                   // of x, before it is multiplied
  // Of x of i8 and fp8: one for each row, or one for all. Or of fp8, with weights that have `blocks`: one for
  // each row and 128 of K, (rows, ceil(K / 128)).
  tensor_view<const f32, 1> x_scale{};
  tensor_view<const f32, 2> x_groups{};
  attention_workspace workspace{};  // of gate_up_workspace_bytes, at a multiple of 16 bytes
  // Nothing in the stream before this call writes the weights, or that of x_norm: products may read them before it has
  // ended.
  bool constant_weights = false;
  // The kernel to run, by a name that gate_up_choice gives; "separate": products, and what combines them; empty:
  // the best one.
  std::string_view variant{};
  // Of packed weights: none is rounded to the type of x before it is multiplied (matmul_w4_options).
  bool exact_weights = false;
};

namespace detail {

// A gate_up_project that was not checked yet.
struct gate_up_arguments {
  std::string_view operation;
  any_view x, out;
  const gate_up_weights* weights;
  const gate_up_options* options;
};

}  // namespace detail

}  // namespace kaio::ops
