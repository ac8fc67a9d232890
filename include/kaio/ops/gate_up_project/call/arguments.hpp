#pragma once
// Arguments of gate_up_project: weights and options.

#include <kaio/ops/matmul/common/terms.hpp>
#include <kaio/ops/norm/call/x_norm.hpp>
#include <kaio/ops/shared/any_view.hpp>
#include <kaio/ops/shared/constant_inputs.hpp>
#include <kaio/ops/shared/tensor_view.hpp>
#include <kaio/ops/shared/workspace.hpp>
#include <kaio/ops/weight_only/call/projection_weight.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace kaio::ops {

// One weight with the rows of the gate first, then those of up; or two weights.
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
  template <detail::without_view M>
  gate_up_vector(const M&) {
    detail::refuse_views<M>();
  }
  template <class T>
  gate_up_vector(const tensor_view<T, 1>& v) : view(v) {
    static_assert(is_wide(element_kind_of<T>()),
                  "kaio: the biases of gate_up_project have the element type of its output");
  }
};

struct gate_up_project_options {
  matmul_activation activation = matmul_activation::silu;
  gate_up_vector gate_bias{}, up_bias{};  // (F)
  ops::x_norm x_norm{};                   // norm of x before the product
  // x_scale: scales of x of i8 and fp8, one for each row, or one for all. x_groups: scales of x of fp8, with
  // weights that have `blocks`: one for each row and 128 of K, (rows, ceil(K / 128)).
  tensor_view<const f32, 1> x_scale{};
  tensor_view<const f32, 2> x_groups{};
  workspace_view workspace{};  // gate_up_project_workspace_bytes bytes, aligned to 16 bytes
  // With weights, nothing in the stream before this call writes the weights or the weight of x_norm. Products
  // may read them before that work has ended.
  constant_inputs constant = constant_inputs::none;  // weights
  // The kernel to run, by a name that gate_up_project_choice gives; "separate": products, and then the kernel
  // that combines them; empty: the best one.
  std::string_view variant{};
  // If true, packed weights are not rounded to the type of x before they are multiplied (matmul_w4_options).
  bool exact_weights = false;
};

namespace detail {

// Arguments of a gate_up_project, not checked yet.
struct gate_up_arguments {
  std::string_view operation;
  any_view x, out;
  const gate_up_weights* weights;
  const gate_up_project_options* options;
};

}  // namespace detail

}  // namespace kaio::ops
