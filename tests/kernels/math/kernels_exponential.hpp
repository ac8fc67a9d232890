#pragma once
// The kernels that test exp, log, pow, the hyperbolic functions and the activations: one row of y a function.

#include <kaio/dsl/dsl.hpp>

namespace kaio::tests {

// In the order of the table in functions_exponential.cpp.
template <class X, class Out>
constexpr void exponential_functions(const X& x, const Out& out) {
  out(exp(x));
  out(exp2(x));
  out(exp10(x));
  out(expm1(x));
  out(log(x));
  out(log2(x));
  out(log10(x));
  out(log1p(x));
  out(sinh(x));
  out(cosh(x));
  out(tanh(x));
  out(sigmoid(x));
  out(gelu(x));
  out(gelu_tanh(x));
}

template <dsl::floating T>
inline constexpr auto exponentials =
    kernel<"exponentials_" + type_name<T>, 128>([](thread t, in<T> x, out<T> y, val<u32> n) {
      val i = t.global_id();
      if (auto in_range = t.when(i < n)) {
        u32 row = 0;
        val a = x[i];
        exponential_functions(a, [&](const auto& result) { y[i + n * row++] = result; });
      }
    });

template <dsl::floating T>
inline constexpr auto powers =
    kernel<"powers_" + type_name<T>, 128>([](thread t, in<T> x, in<T> z, out<T> y, val<u32> n) {
      val i = t.global_id();
      if (auto in_range = t.when(i < n)) y[i] = pow(x[i], z[i]);
    });

// The approximations of the special function unit.
template <dsl::floating T>
inline constexpr auto fast_exponentials =
    kernel<"fast_exponentials_" + type_name<T>, 128>([](thread t, in<T> x, out<T> y, val<u32> n) {
      val i = t.global_id();
      if (auto in_range = t.when(i < n)) {
        u32 row = 0;
        const auto out = [&](const auto& result) { y[i + n * row++] = result; };
        val a = x[i];
        out(fast::exp(a));
        out(fast::exp2(a));
        out(fast::exp10(a));
        out(fast::log(a));
        out(fast::log2(a));
        out(fast::log10(a));
        out(fast::tanh(a));
        out(fast::sigmoid(a));
        out(fast::pow(a, 1.5f));
      }
    });

}  // namespace kaio::tests
