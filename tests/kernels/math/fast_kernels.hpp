#pragma once
// The approximations of the special function unit that flush subnormal numbers, and those of 16-bit floats.

#include <kaio/dsl/dsl.hpp>

namespace kaio::tests {

// In the order of the table in functions_fast.cpp.
inline constexpr u32 flushing_rows = 15;
inline constexpr auto fast_flushing =
    kernel<"functions_fast_ftz", 128>([](thread t, in<f32> x, out<f32> y, val<u32> n) {
      val i = t.global_id();
      if (auto in_range = t.when(i < n)) {
        u32 row = 0;
        const auto out = [&](const auto& result) { y[i + n * row++] = result; };
        val a = x[i];
        const auto both = fast::ftz::sincos(a);
        out(fast::ftz::exp(a));
        out(fast::ftz::exp2(a));
        out(fast::ftz::exp10(a));
        out(fast::ftz::log(a));
        out(fast::ftz::log2(a));
        out(fast::ftz::log10(a));
        out(fast::ftz::sigmoid(a));
        out(fast::ftz::pow(a, 1.5f));
        out(both.sin);
        out(both.cos);
        out(fast::ftz::tan(a));
        out(fast::ftz::rcp(a));
        out(fast::ftz::rsqrt(a));
        out(fast::ftz::sqrt(a));
        out(fast::ftz::div(1.5f, a));
      }
    });

// `T`: f16, bf16 or a pair; `Sm` decides whether it has the instructions or goes through f32.
template <dsl::floating T, u32 Sm>
inline constexpr auto fast_halves =
    kernel<"functions_fast_" + type_name<T> + "_" + decimal<Sm>, 128, kernel_options{.target = {Sm}}>(
        [](thread t, in<T> x, out<T> y, val<u32> n) {
          val i = t.global_id();
          if (auto in_range = t.when(i < n)) {
            val a = x[i];
            y[i] = fast::exp2(a);
            y[i + n] = fast::tanh(a);
            y[i + n * 2] = fast::ftz::exp2(a);
          }
        });

// The smaller and the larger of two numbers, NaN where one is.
template <dsl::floating T, u32 Sm>
inline constexpr auto nan_extremes =
    kernel<"functions_nan_extremes_" + type_name<T> + "_" + decimal<Sm>, 128, kernel_options{.target = {Sm}}>(
        [](thread t, in<T> a, in<T> b, out<T> y, val<u32> n) {
          val i = t.global_id();
          if (auto in_range = t.when(i < n)) {
            y[i] = min_nan(a[i], b[i]);
            y[i + n] = max_nan(a[i], b[i]);
            y[i + n * 2] = max_nan(a[i], 0.5f);
          }
        });

}  // namespace kaio::tests
