#pragma once
// Epilogues of products of 8-bit floats. The call gives their arguments as numbers:
//
//   y = activation(s * scale_a[m] * scale_b[n] * alpha + bias) + residual       in f32, from left to right
//   C = y for f32, f16, bf16; y / out_scale for e4m3: each rounded once to the nearest even, e4m3 saturates
//
// fp8_grouped also scales the sums of groups of 128 along K before they become s.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/matmul/common/general.hpp>
#include <kaio/ops/matmul/common/output.hpp>
#include <kaio/ops/matmul_8bit/common/scales.hpp>
#include <kaio/ops/matmul_8bit/common/vector_scaled.hpp>
#include <kaio/ops/shared/e4m3_code.hpp>

#include <cstdint>

namespace kaio::ops {

// Arguments of the epilogues. A term of type none is not read; its scale is 1.
struct fp8_terms {
  matmul_terms general;
  matmul_term scale_a, scale_b;
  matmul_term groups_a;  // f32; its columns are groups of K
  matmul_term blocks_b;  // f32; its rows are groups of K, its columns blocks of 128 columns of C
  f32 out_scale = 1;     // for an e4m3 C
  u32 groups = 0;        // groups of K
};

using fp8_output = output_among<f32, f16, bf16, e4m3>;

// The result at one place, before C's element type is known.
struct fp8_result {
  val<f32> value, out_scale;
};
template <scalar Out>
constexpr val<Out> rounded(thread t, const fp8_result& x) {
  if constexpr (std::is_same_v<Out, e4m3>)
    return e4m3_code(t, x.value, x.out_scale);
  else
    return t.let(cast<Out>(x.value));
}
constexpr const val<f32>& number_in(const fp8_result& x) { return x.value; }

struct fp8_general {
  static constexpr fixed_string name = "fp8_general";
  static constexpr bool takes_strips = true;

  template <std::uint32_t N, class At>
  static constexpr dsl::register_array<fp8_result, N> several(thread t,
                                                              const dsl::register_array<val<f32>, N>& x,
                                                              const At& at, const val<fp8_terms>& terms) {
    auto y = array_of<N>([&](u32 i) { return var(t, x[i]); });
    scale_rows_and_columns(t, y, at, terms[&fp8_terms::scale_a], terms[&fp8_terms::scale_b]);
    const val<matmul_terms> rest = terms[&fp8_terms::general];
    const val<f32> out_scale = t.let(terms[&fp8_terms::out_scale]);
    const auto result =
        general::several(t, array_of<N>([&](u32 i) { return val<f32>(t.let(y[i])); }), at, rest);
    return array_of<N>([&](u32 i) { return fp8_result{result[i], out_scale}; });
  }

  constexpr val<f32> operator()(thread t, val<f32> x, place at, val<fp8_terms> terms) const {
    return several(t, dsl::register_array<val<f32>, 1>{{x}}, single_place(t, at), terms)[0].value;
  }
};

// fp8_general without activation and residual, with f32 scales and an f32 column bias.
using fp8_scaled = vector_scaled<f32, fp8_terms>;

// C = s * alpha.
struct fp8_alpha {
  static constexpr fixed_string name = "alpha";
  static constexpr bool in_registers = true;
  constexpr val<f32> operator()(thread t, val<f32> x, place, val<fp8_terms> terms) const {
    return t.let(x * terms[&fp8_terms::general][&matmul_terms::alpha]);
  }
};

// Applies group scales, then Rest. Optional: also serves calls without group scales, which count as 1.
template <class Rest, bool Optional = false>
struct fp8_grouped : Rest {
  static constexpr auto name = "groups_" + Rest::name;
  static constexpr bool promotes = true;

  // Scales of a row, or of 128 columns, indexed by group.
  struct line {
    val<u64> address;
    val<i64> first, step;
    val<bool> exists;

    constexpr val<f32> at(thread t, const val<u32>& group) const {
      const auto load = [&] { return pointer_at<in<f32>>(t, address)[first + cast<i64>(group) * step]; };
      if constexpr (Optional) {
        var result(t, 1.0f);
        if (auto one = t.when(exists)) result = load();
        return t.let(result);
      } else {
        return t.let(load());
      }
    }
  };
  static constexpr line line_of_row(thread t, const val<u32>& batch, const val<u32>& row,
                                    const val<fp8_terms>& terms) {
    return line_of(t, terms[&fp8_terms::groups_a], batch, row, &matmul_term::row, &matmul_term::column);
  }
  static constexpr line line_of_columns(thread t, const val<u32>& batch, const val<u32>& column,
                                        const val<fp8_terms>& terms) {
    return line_of(t, terms[&fp8_terms::blocks_b], batch, t.let(column / promoted_k), &matmul_term::column,
                   &matmul_term::row);
  }
  static constexpr val<u32> groups(thread t, const val<fp8_terms>& terms) {
    return t.let(terms[&fp8_terms::groups]);
  }

 private:
  template <class Term>
  static constexpr line line_of(thread t, const Term& term, const val<u32>& batch, const val<u32>& index,
                                i64 matmul_term::*across, i64 matmul_term::*along) {
    const val first = t.let(cast<i64>(batch) * term[&matmul_term::batch] + cast<i64>(index) * term[across]);
    return {t.let(term[&matmul_term::address]), first, t.let(term[along]),
            t.let(term[&matmul_term::type] != 0u)};
  }
};

}  // namespace kaio::ops
