#pragma once
// An epilogue: what happens to each sum of a matmul before it is stored, C = epilogue(A * B). It is a class
// without members. Its operator() takes the thread, the sum and its place in C; then follow kernel parameters
// of its own, which the launch takes last.
//
//   struct clamped {
//     static constexpr fixed_string name = "clamped";
//     constexpr val<f32> operator()(thread t, val<f32> x, place at, in<f32> most) const {
//       return t.let(min(x, most[at.column]));
//     }
//   };
//
// It is called in no stated order. It sees places inside C only, or its result is dropped. Results are
// rounded to the type of C. `name` becomes part of the kernel's name and may be left out.

#include <kaio/dsl/dsl.hpp>

#include <cstdint>
#include <type_traits>

namespace kaio::ops {

using dsl::fixed_string;
using dsl::scalar;

// The zero-based place of a sum in C.
struct place {
  val<u32> batch, row, column;
};

// The parameters that an epilogue adds to its kernel.
template <class... Extra>
struct epilogue_parameters {};

namespace detail {
template <class Call>
struct epilogue_signature {
  static_assert(
      dsl::never<Call>,
      "kaio: an epilogue is called as val<f32> operator()(thread t, val<f32> x, place at, ...) const");
};
template <class E, class Result, class Sum, class... Extra>
struct epilogue_signature<val<Result> (E::*)(thread, val<Sum>, place, Extra...) const> {
  static_assert(std::is_same_v<Result, f32> || (std::is_same_v<Result, i32> && std::is_same_v<Sum, i32>),
                "kaio: the result of an epilogue is f32, or i32 of a sum of i32");
  static_assert((dsl::is_parameter<Extra> && ...),
                "kaio: the further parameters of an epilogue are in<T>, inout<T> and val<T>, by value");
  using sum = Sum;
  using result = Result;
  using parameters = epilogue_parameters<Extra...>;
};

// The type of sums of products of T.
template <class T>
struct sum_of_operand {
  using type = f32;
};
template <>
struct sum_of_operand<i8> {
  using type = i32;
};
}  // namespace detail

template <class T>
using sum_of = typename detail::sum_of_operand<T>::type;
// The type that an epilogue takes: f32, or i32 for products of i8.
template <class E>
using sum_of_epilogue = typename detail::epilogue_signature<decltype(&E::operator())>::sum;

// The type that it returns: f32 or i32.
template <class E>
using result_of_epilogue = typename detail::epilogue_signature<decltype(&E::operator())>::result;

template <class E>
using parameters_of_epilogue = typename detail::epilogue_signature<decltype(&E::operator())>::parameters;

// A class without members that maps a sum and its place to the value to store.
template <class E>
concept epilogue = std::is_empty_v<E> && requires { typename parameters_of_epilogue<E>; };

namespace detail {
template <class E>
constexpr auto name_of_epilogue() {
  if constexpr (requires { E::name; })
    return E::name;
  else
    return fixed_string("custom");
}
}  // namespace detail

template <class E>
inline constexpr auto epilogue_name = detail::name_of_epilogue<E>();

// Whether an epilogue has `static constexpr bool in_registers = true`: it uses the sum alone and reads no
// memory. Its result may then take a shorter way to C, and is computed for places outside C too.
template <class E>
inline constexpr bool works_in_registers = [] {
  if constexpr (requires { E::in_registers; })
    return E::in_registers;
  else
    return false;
}();

// Whether an epilogue in registers has `static constexpr bool is_factored = true`: its result depends on the
// sum, on numbers of the row and on numbers of the column. A thread reads those once for all of its sums in
// the row or column. Three static functions:
//   of_row(t, batch, row, extra...)           a val<f32>; the row is inside C
//   of_column(t, batch, column, extra...)     column_numbers, two val<f32>; the column is inside C
//   apply(t, x, of_row, of_column, extra...)
template <class E>
inline constexpr bool is_factored = [] {
  if constexpr (requires { E::is_factored; })
    return E::is_factored;
  else
    return false;
}();

// Whether an epilogue has `static constexpr bool promotes = true`: each sum over a group of 128 along K is
// multiplied by a scale of its row and a scale of its columns, and threads add those products in f32. The
// first two static functions return objects with at(t, group), the scale:
//   line_of_row(t, batch, row, extra...)
//   line_of_columns(t, batch, column, extra...)    one scale for 128 columns
//   groups(t, extra...)                            the number of groups of K
template <class E>
inline constexpr bool promotes = [] {
  if constexpr (requires { E::promotes; })
    return E::promotes;
  else
    return false;
}();
inline constexpr std::uint32_t promoted_k = 128;

// The results of N sums. An epilogue with a function `several`, such as `general`, makes them together:
// shared code is emitted once, and loads do not wait for each other.
template <class Epilogue, std::uint32_t N, class Sum, class... Extra>
constexpr auto finished(thread t, const dsl::register_array<val<Sum>, N>& x,
                        const dsl::register_array<place, N>& at, const Extra&... extra) {
  if constexpr (requires { Epilogue{}.several(t, x, at, extra...); })
    return Epilogue{}.several(t, x, at, extra...);
  else
    return array_of<N>([&](u32 i) { return t.let(Epilogue{}(t, x[i], at[i], extra...)); });
}

// C = A * B.
struct identity {
  static constexpr fixed_string name = "identity";
  static constexpr bool in_registers = true;
  constexpr val<f32> operator()(thread, val<f32> x, place) const { return x; }
};

// C = alpha * A * B.
struct scaled {
  static constexpr fixed_string name = "scaled";
  static constexpr bool in_registers = true;
  constexpr val<f32> operator()(thread t, val<f32> x, place, val<f32> alpha) const {
    return t.let(x * alpha);
  }
};

// Functions of one number that `linear` applies; a class of your own has the same form.
namespace activation {
struct none {
  static constexpr fixed_string name = "none";
  constexpr val<f32> operator()(thread, val<f32> x) const { return x; }
};
// NaN stays NaN.
struct relu {
  static constexpr fixed_string name = "relu";
  constexpr val<f32> operator()(thread t, val<f32> x) const { return t.let(select(x < 0.0f, 0.0f, x)); }
};
struct gelu {
  static constexpr fixed_string name = "gelu";
  constexpr val<f32> operator()(thread t, val<f32> x) const { return t.let(dsl::gelu(x)); }
};
struct gelu_tanh {
  static constexpr fixed_string name = "gelu_tanh";
  constexpr val<f32> operator()(thread t, val<f32> x) const { return t.let(dsl::gelu_tanh(x)); }
};
struct silu {
  static constexpr fixed_string name = "silu";
  constexpr val<f32> operator()(thread t, val<f32> x) const { return t.let(x * dsl::sigmoid(x)); }
};
}  // namespace activation

// The strides of an argument of `linear` over the places of C, in elements; 0 repeats it.
struct term_strides {
  i64 batch, row, column;
};

// The numbers of `linear`. An unused term is not read: its memory may be anything except null.
struct linear_terms {
  f32 alpha = 1, beta = 0;
  u32 uses_c = 0, uses_bias = 0, uses_residual = 0;  // 0 or 1
  term_strides c{}, bias{}, residual{};  // a bias for each column: {0, 0, 1}; for each row: {0, 1, 0}
};

// C = activation(alpha * A * B + beta * C + bias) + residual. The C that is read may be the C that is
// written, element by element; bias and residual are in memory of their own.
template <class Activation = activation::none, scalar C = f32, scalar Bias = f32, scalar Residual = C>
struct linear {
  static constexpr auto name =
      "linear_" + Activation::name + "_" + type_name<C> + "_" + type_name<Bias> + "_" + type_name<Residual>;

  constexpr val<f32> operator()(thread t, val<f32> x, place at, inout<C> c, in<Bias> bias,
                                in<Residual> residual, val<linear_terms> terms) const {
    var y(t, x * terms[&linear_terms::alpha]);
    const val of_c = offset(t, terms[&linear_terms::c], at);
    const val of_bias = offset(t, terms[&linear_terms::bias], at);
    const val of_residual = offset(t, terms[&linear_terms::residual], at);
    if (auto uses = t.when(terms[&linear_terms::uses_c] != 0))
      y += terms[&linear_terms::beta] * cast<f32>(c[of_c]);
    if (auto uses = t.when(terms[&linear_terms::uses_bias] != 0)) y += cast<f32>(bias[of_bias]);
    var z(t, Activation{}(t, t.let(y)));
    if (auto uses = t.when(terms[&linear_terms::uses_residual] != 0)) z += cast<f32>(residual[of_residual]);
    return t.let(z);
  }

 private:
  template <class Strides>
  static constexpr val<i64> offset(thread t, const Strides& strides, const place& at) {
    const val batch = t.let(cast<i64>(at.batch) * strides[&term_strides::batch]);
    const val row = t.let(batch + cast<i64>(at.row) * strides[&term_strides::row]);
    return t.let(row + cast<i64>(at.column) * strides[&term_strides::column]);
  }
};

}  // namespace kaio::ops
