#pragma once
// Epilogues of i8 products, whose sums are exact. The call gives their arguments, so that one kernel serves
// every combination of scales, zero points, bias, activation, residual and output:
//
//   s = sum over k of a * b - zero_a[m] * column_sums[n]                         in i32
//   y = activation(f32(s) * scale_a[m] * scale_b[n] * alpha + bias) + residual   in f32, from left to right
//   C = s for i32; y for f32, f16, bf16; y / out_scale for i8, clamped           rounded once, nearest even

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/matmul/common/general.hpp>
#include <kaio/ops/matmul/common/output.hpp>
#include <kaio/ops/matmul_8bit/common/scales.hpp>
#include <kaio/ops/matmul_8bit/common/vector_scaled.hpp>
#include <kaio/ops/shared/int8_code.hpp>

#include <cstdint>

namespace kaio::ops {

// Arguments of int8_general. A term of type none is not read: scale 1, no zero points. Zero points and column
// sums are i32, although their terms say f32.
struct int8_terms {
  matmul_terms general;
  matmul_term scale_a, scale_b;
  matmul_term zero_a, column_sums;
  f32 out_scale = 1;  // for an i8 C
  u32 unused = 0;
};

using int8_output = output_among<f32, f16, bf16, i8, i32>;

// The result at one place, before C's element type is known.
struct int8_result {
  val<i32> sum;
  val<f32> value, out_scale;
};
template <scalar Out>
constexpr val<Out> rounded(thread t, const int8_result& x) {
  if constexpr (std::is_same_v<Out, i32>)
    return x.sum;
  else if constexpr (std::is_same_v<Out, i8>)
    return int8_code(t, x.value, x.out_scale);
  else
    return t.let(cast<Out>(x.value));
}
constexpr const val<f32>& number_in(const int8_result& x) { return x.value; }

struct int8_general {
  static constexpr fixed_string name = "general";
  static constexpr bool takes_strips = true;

  template <std::uint32_t N, class At>
  static constexpr dsl::register_array<int8_result, N> several(thread t,
                                                               const dsl::register_array<val<i32>, N>& x,
                                                               const At& at, const val<int8_terms>& terms) {
    auto sums = array_of<N>([&](u32 i) { return var(t, x[i]); });
    const val is_asymmetric = t.let(terms[&int8_terms::zero_a][&matmul_term::type] != 0u);
    if (auto asymmetric = t.when(is_asymmetric)) {
      const auto zero = term_integers(t, terms[&int8_terms::zero_a], at.of_rows());
      const auto of_columns = term_integers(t, terms[&int8_terms::column_sums], at.of_columns());
      for (u32 i = 0; i < N; ++i) sums[i] -= zero[i / At::columns] * of_columns[i % At::columns];
    }
    auto y = array_of<N>([&](u32 i) { return var(t, cast<f32>(sums[i])); });
    scale_rows_and_columns(t, y, at, terms[&int8_terms::scale_a], terms[&int8_terms::scale_b]);
    const val<matmul_terms> rest = terms[&int8_terms::general];
    const val<f32> out_scale = t.let(terms[&int8_terms::out_scale]);
    const auto result =
        general::several(t, array_of<N>([&](u32 i) { return val<f32>(t.let(y[i])); }), at, rest);
    return array_of<N>([&](u32 i) { return int8_result{t.let(sums[i]), result[i], out_scale}; });
  }

  constexpr val<f32> operator()(thread t, val<i32> x, place at, val<int8_terms> terms) const {
    return several(t, dsl::register_array<val<i32>, 1>{{x}}, single_place(t, at), terms)[0].value;
  }
};

// int8_general without zero points, activation and residual, with f32 scales and an f32 column bias.
using int8_scaled = vector_scaled<i32, int8_terms>;

// The sums themselves.
struct int8_sums {
  static constexpr fixed_string name = "sums";
  static constexpr bool in_registers = true;
  constexpr val<i32> operator()(thread, val<i32> x, place) const { return x; }
};

}  // namespace kaio::ops
