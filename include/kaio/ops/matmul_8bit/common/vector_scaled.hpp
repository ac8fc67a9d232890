#pragma once
// The epilogue of a quantised product with row scales, column scales and a column bias, all f32:
//
//   C = f32(x) * scale_a[m] * scale_b[n] * alpha + bias[n]
//
// Each thread loads the numbers of a row or column once and uses them for all of its sums in that row or
// column. Terms: a struct with `scale_a`, `scale_b` and `general`; alpha and the bias of `general` are used.
// A term of type none is not read.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/matmul/common/epilogue.hpp>
#include <kaio/ops/matmul/common/terms.hpp>

namespace kaio::ops {

template <scalar Sum, class Terms>
struct vector_scaled {
  static constexpr fixed_string name = "vector_scaled";
  static constexpr bool in_registers = true;
  static constexpr bool is_factored = true;

  using column_numbers = dsl::register_array<val<f32>, 2>;  // scale, bias
  static constexpr val<f32> of_row(thread t, const val<u32>& batch, const val<u32>& row,
                                   const val<Terms>& terms) {
    return number_at(t, terms[&Terms::scale_a], 1.0f, &matmul_term::row, batch, row);
  }
  static constexpr column_numbers of_column(thread t, const val<u32>& batch, const val<u32>& column,
                                            const val<Terms>& terms) {
    const val scale = number_at(t, terms[&Terms::scale_b], 1.0f, &matmul_term::column, batch, column);
    const val bias =
        number_at(t, terms[&Terms::general][&matmul_terms::bias], -0.0f, &matmul_term::column, batch, column);
    return {{scale, bias}};
  }
  // A missing bias is -0: x + -0 is x for every x.
  static constexpr val<f32> apply(thread t, const val<Sum>& x, const val<f32>& of_row,
                                  const column_numbers& of_column, const val<Terms>& terms) {
    return t.let(cast<f32>(x) * of_row * of_column[0] * terms[&Terms::general][&matmul_terms::alpha] +
                 of_column[1]);
  }

  constexpr val<f32> operator()(thread t, val<Sum> x, place at, val<Terms> terms) const {
    return apply(t, x, of_row(t, at.batch, at.row, terms), of_column(t, at.batch, at.column, terms), terms);
  }

 private:
  template <class Term>
  static constexpr val<f32> number_at(thread t, const Term& term, f32 otherwise, i64 matmul_term::*step,
                                      const val<u32>& batch, const val<u32>& index) {
    var result(t, otherwise);
    if (auto exists = t.when(term[&matmul_term::type] != 0u)) {
      const val offset = t.let(cast<i64>(batch) * term[&matmul_term::batch] + cast<i64>(index) * term[step]);
      result = pointer_at<in<f32>>(t, t.let(term[&matmul_term::address]))[offset];
    }
    return t.let(result);
  }
};

}  // namespace kaio::ops
