#pragma once
// What a caller of gate_up_project gives: weights, and options.

#include <kaio/ops/attention/call/workspace.hpp>
#include <kaio/ops/matmul/common/terms.hpp>
#include <kaio/ops/qkv/arguments.hpp>
#include <kaio/ops/quantised/w4/arguments_w8.hpp>
#include <kaio/ops/tensor/any_view.hpp>
#include <kaio/ops/tensor/tensor_view.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace kaio::ops {

// Weights of e4m3 or e5m2, (N, K), with the scales of their outputs: (N) of f32, or one for all; or of blocks
// of 128 outputs by 128 inputs, (ceil(N / 128), ceil(K / 128)).
struct fp8_weights {
  any_view matrix{};
  tensor_view<const f32, 1> scale{};
  tensor_view<const f32, 2> blocks{};

  template <class T>
  fp8_weights(const tensor_view<T, 2>& weight, const tensor_view<const f32, 1>& of_outputs = {})
      : matrix(weight), scale(of_outputs) {
    require<T>();
  }
  template <class T>
  fp8_weights(const tensor_view<T, 2>& weight, const tensor_view<const f32, 2>& of_blocks)
      : matrix(weight), blocks(of_blocks) {
    require<T>();
  }

 private:
  template <class T>
  static constexpr void require() {
    using element = std::remove_const_t<T>;
    static_assert(std::is_same_v<element, e4m3> || std::is_same_v<element, e5m2>,
                  "kaio: fp8_weights are e4m3 or e5m2");
  }
};

// A weight as linear layers have it, (N, K): f32, f16 or bf16, i8 or fp8 with scales, or packed, of 4 or 8
// bits. Of a matrix (K, N): transposed().
struct gate_up_weight {
  any_view matrix{}, scale{}, blocks{};
  w4_weights packed{};
  bool is_packed = false;

  gate_up_weight() = default;
  template <class T>
  gate_up_weight(const tensor_view<T, 2>& v) : matrix(v) {
    static_assert(is_wide(element_kind_of<T>()),
                  "kaio: the weights of gate_up_project are f32, f16 or bf16, or int8_weights, fp8_weights, "
                  "w4_weights or w8_weights");
  }
  gate_up_weight(const int8_weights& w) : matrix(w.matrix), scale(w.scale) {}
  gate_up_weight(const fp8_weights& w) : matrix(w.matrix), scale(w.scale), blocks(w.blocks) {}
  gate_up_weight(const w4_weights& w) : packed(w), is_packed(true) {}
  gate_up_weight(const w8_weights& w) : packed(detail::as_w4_weights(w)), is_packed(true) {}
};

// One weight of both, the rows of the gate first, then those of up; or two.
struct gate_up_weights {
  std::array<gate_up_weight, 2> of{};
  std::uint32_t count = 1;
  template <class W>
    requires std::is_constructible_v<gate_up_weight, const W&>
  gate_up_weights(const W& both) : of{gate_up_weight(both)} {}
  gate_up_weights(const gate_up_weight& gate, const gate_up_weight& up) : of{gate, up}, count(2) {}
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
  // Of x of i8 and fp8: one for each row, or one for all. Or of fp8, with weights that have `blocks`: one for
  // each row and 128 of K, (rows, ceil(K / 128)).
  tensor_view<const f32, 1> x_scale{};
  tensor_view<const f32, 2> x_groups{};
  attention_workspace workspace{};  // of gate_up_workspace_bytes, at a multiple of 16 bytes
  // Nothing in the stream before this call writes the weights: the products may read them before it has ended.
  bool constant_weights = false;
  // The kernel to run, by a name that gate_up_choice gives; "separate": products, and what combines them; empty:
  // the best one.
  std::string_view variant{};
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
