#pragma once
// The weight of a projection, of any kind, as qkv_project and gate_up_project take it.

#include <kaio/ops/shared/any_view.hpp>
#include <kaio/ops/shared/tensor_view.hpp>
#include <kaio/ops/weight_only/call/arguments.hpp>
#include <kaio/ops/weight_only/call/arguments_w8.hpp>

#include <type_traits>

namespace kaio::ops {

// Weights of i8 with f32 scales: (N), one per output, or one for all.
struct int8_weights {
  tensor_view<const i8, 2> matrix{};
  tensor_view<const f32, 1> scale{};
};

// A matrix of 8-bit floats.
struct fp8_matrix {
  any_view view;
  fp8_matrix() = default;
  template <detail::without_view M>
  fp8_matrix(const M&) {
    detail::refuse_views<M>();
  }
  template <class T>
  fp8_matrix(const tensor_view<T, 2>& v) : view(v) {
    using element = std::remove_const_t<T>;
    static_assert(std::is_same_v<element, e4m3> || std::is_same_v<element, e5m2>,
                  "kaio: fp8_weights are e4m3 or e5m2");
  }
};
// Weights of 8-bit floats, for an x of 8-bit floats. scale: (N), one per output, or one for all. blocks:
// scales of blocks of 128 x 128, (ceil(N / 128), ceil(K / 128)), for an x with x_groups. Both may be given.
struct fp8_weights {
  fp8_matrix matrix{};
  tensor_view<const f32, 1> scale{};
  tensor_view<const f32, 2> blocks{};
};

// A weight (N, K), as linear layers have it. A matrix (K, N) is given as its transposed().
//
//   f32, f16 or bf16                     for an x of the same type
//   w4_weights, w8_weights               for an x of f16 or bf16
//   i8 or 8-bit floats, with scales      for an x of the same kind
struct projection_weight {
  any_view matrix{}, scale{}, blocks{};
  w4_weights packed{};
  bool is_packed = false;

  projection_weight() = default;
  template <detail::without_view M>
  projection_weight(const M&) {
    detail::refuse_views<M>();
  }
  template <class T>
  projection_weight(const tensor_view<T, 2>& v) : matrix(v) {
    static_assert(
        is_wide(element_kind_of<T>()),
        "kaio: the weights of a projection are f32, f16 or bf16, w4_weights, w8_weights, int8_weights "
        "or fp8_weights");
  }
  projection_weight(const int8_weights& w) : matrix(w.matrix), scale(w.scale) {}
  projection_weight(const fp8_weights& w) : matrix(w.matrix.view), scale(w.scale), blocks(w.blocks) {}
  projection_weight(const w4_weights& w) : packed(w), is_packed(true) {}
  projection_weight(const w8_weights& w) : packed(detail::as_w4_weights(w)), is_packed(true) {}
};

}  // namespace kaio::ops
