#pragma once
// The functions of activate, gated and their gradients: a variant is a curve, whose numbers a and b follow
// the tensors. Numbers of a gate follow these:
//
//   h = f(min(gate, limit)),   u = min(max(up, -limit), limit) + offset,   y = h u
//
// A NaN stays NaN in both.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/elementwise/activation/curve.hpp>

#include <cstdint>

namespace kaio::ops {

template <bool Fast>
struct activated {
  static constexpr u32 variants = curve::count;
  template <u32 Curve>
  static constexpr auto apply(thread t, const val<f32>& x, const val<f32>& a, const val<f32>& b) {
    return curve::value<Fast, Curve>(t, x, a, b);
  }
};

template <bool Fast>
struct activated_backward {
  static constexpr u32 variants = curve::count;
  template <u32 Curve>
  static constexpr auto apply(thread t, const val<f32>& dy, const val<f32>& x, const val<f32>& a,
                              const val<f32>& b) {
    return t.let(dy * curve::value_and_slope<Fast, Curve>(t, x, a, b).slope);
  }
};

template <bool Fast>
struct gated_product {
  static constexpr u32 variants = curve::count;
  template <u32 Curve>
  static constexpr auto apply(thread t, const val<f32>& gate, const val<f32>& up, const val<f32>& a,
                              const val<f32>& b, const val<f32>& limit, const val<f32>& offset) {
    const val h = curve::value<Fast, Curve>(t, t.let(min_nan(gate, limit)), a, b);
    const val u = t.let(min_nan(max_nan(up, -limit), limit) + offset);
    return t.let(h * u);
  }
};

// Gives d gate and d up. Beyond its limit an input has the gradient 0.
template <bool Fast>
struct gated_product_backward {
  static constexpr u32 variants = curve::count;
  template <u32 Curve>
  static constexpr auto apply(thread t, const val<f32>& dy, const val<f32>& gate, const val<f32>& up,
                              const val<f32>& a, const val<f32>& b, const val<f32>& limit,
                              const val<f32>& offset) {
    const curve::point h = curve::value_and_slope<Fast, Curve>(t, t.let(min_nan(gate, limit)), a, b);
    const val u = t.let(min_nan(max_nan(up, -limit), limit) + offset);
    const val d_gate = t.let(select(gate > limit, 0.0f, dy * u * h.slope));
    const val d_up = t.let(select(abs(up) > limit, 0.0f, dy * h.value));
    return array_of<2>([&](u32 i) { return t.let(i == 0 ? d_gate : d_up); });
  }
};

}  // namespace kaio::ops
