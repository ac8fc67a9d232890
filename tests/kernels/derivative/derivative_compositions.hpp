#pragma once
// Compositions of the operations, as users write them.

#include "tests/kernels/derivative/derivative_kernels.hpp"

#include <kaio/dsl/dsl.hpp>

#include <cstdint>

namespace kaio::tests {

// Each value is an operand of the next one: 240 of them.
template <class T>
constexpr val<T> chained(val<T> y, int steps) {
  if (steps == 0) return y;
  return chained<T>(y * 0.96875f + 0.0625f * sqrt(y), steps - 1);
}

#define KAIO_COMPOSITION(Name, Low, High, ...)                        \
  struct Name##_case {                                                \
    static constexpr const char* name = #Name;                        \
    static constexpr double low = Low, high = High, tolerance = 2e-5; \
    template <class A>                                                \
    static constexpr auto of(const A& x) {                            \
      __VA_ARGS__                                                     \
    }                                                                 \
    template <class A>                                                \
    static constexpr auto exact(const A& x) {                         \
      return of(x);                                                   \
    }                                                                 \
  };

// clang-format off: it takes x * x for a pointer.

KAIO_COMPOSITION(soft_cap, -80, 80, return 30.0f * tanh(x / 30.0f);)
KAIO_COMPOSITION(alibi, -8, 8, return x - 0.0625f * abs(cast<dsl::element<A>>(thread_idx_x()) - 7.0f);)
KAIO_COMPOSITION(capped_alibi, -80, 80, val t = x - 0.25f * abs(x * 0.5f - 7.0f);
                 return 20.0f * tanh(t * 0.05f);)
KAIO_COMPOSITION(logistic, -8, 8, return 1.0f / (1.0f + exp(-x));)
KAIO_COMPOSITION(silu, -8, 8, return x * sigmoid(x);)
KAIO_COMPOSITION(softplus, -8, 8, return max(x, 0.0f) + log1p(exp(-abs(x)));)
KAIO_COMPOSITION(gelu_by_hand, -4, 4, return 0.5f * x * (1.0f + erf(x * 0.70710678f));)
KAIO_COMPOSITION(leaky, -4, 4, return select(x > 0.0f, x, 0.125f * x);)
KAIO_COMPOSITION(nested_choice, -4, 4, return select(x > 1.0f, x* x, select(x > -1.0f, x, -x* x* x));)
KAIO_COMPOSITION(polynomial, -2, 2, val z = x * x; val p = fma(z, 0.25f, -1.0f); return fma(z * x, p, x);)
KAIO_COMPOSITION(chain, 0.5, 2, return chained<dsl::element<A>>(x, 80);)
KAIO_COMPOSITION(shared_parts, 0.5, 2, val r = rsqrt(x); val l = log(x); return r * l + l * l / r;)
KAIO_COMPOSITION(wide, -3, 3, return cast<dsl::element<A>>(sin(cast<f64>(x)) * 2.0);)

// The first derivative is the function whose derivative is compared.
KAIO_COMPOSITION(second_of_product, -2, 2, val y = x * x * x * 0.5f; return derivative(y, x);)
KAIO_COMPOSITION(second_of_cap, -80, 80, val y = 30.0f * tanh(x / 30.0f); return derivative(y, x);)
KAIO_COMPOSITION(second_of_gelu, -3, 3, val y = gelu(x); return derivative(y, x);)
KAIO_COMPOSITION(second_of_gelu_tanh, -3, 3, val y = gelu_tanh(x); return derivative(y, x);)
KAIO_COMPOSITION(second_of_sine, -3, 3, val y = sin(x) * cos(x); return derivative(y, x);)
KAIO_COMPOSITION(second_of_power, 0.5, 2, val y = pow(x, x); return derivative(y, x);)
KAIO_COMPOSITION(second_of_quotient, 0.5, 2, val y = log(x) / x; return derivative(y, x);)
KAIO_COMPOSITION(third_of_sigmoid, -3, 3, val y = sigmoid(x); val d = derivative(y, x);
                 return derivative(d, x);)

// clang-format on

#undef KAIO_COMPOSITION

using composition_cases =
    case_list<"compositions", soft_cap_case, alibi_case, capped_alibi_case, logistic_case, silu_case,
              softplus_case, gelu_by_hand_case, leaky_case, nested_choice_case, polynomial_case, chain_case,
              shared_parts_case, wide_case>;
using second_cases = case_list<"second_derivatives", second_of_product_case, second_of_cap_case,
                               second_of_gelu_case, second_of_gelu_tanh_case, second_of_sine_case,
                               second_of_power_case, second_of_quotient_case, third_of_sigmoid_case>;

// f16 and bf16 on architectures with and without their instructions.
template <class T, std::uint16_t Architecture>
inline constexpr auto half_slopes =
    kernel<"half_slopes_" + type_name<T> + "_" + decimal<Architecture>, 64,
           kernel_options{.target = {Architecture, false}}>([](thread t, in<T> x, out<T> y, val<u32> n) {
      val i = t.global_id();
      if (auto in_range = t.when(i < n)) {
        val v = x[i];
        y[i] = derivative(v * v * v - v, v);
        y[i + n] = derivative(sigmoid(v), v);
        y[i + n * 2] = derivative(abs(v) * v, v);
        val wide = cast<f32>(v);
        y[i + n * 3] = derivative(cast<T>(wide * wide), v);
      }
    });

inline constexpr u32 partial_rows = 10;
inline constexpr auto partial_slopes =
    kernel<"partial_slopes", 64>([](thread t, in<f32> x, out<f32> y, val<u32> n) {
      val i = t.global_id();
      if (auto in_range = t.when(i < n)) {
        var factor(t, 0.0f);
        val b = x[i + n];
        factor = b;
        val a = x[i];
        val f = a * a * b;
        val by_a = derivative(f, a);
        y[i] = by_a;
        y[i + n] = derivative(f, b);
        y[i + n * 2] = derivative(by_a, b);
        y[i + n * 3] = derivative(b * 2.0f, a);
        y[i + n * 4] = derivative(a, a);
        y[i + n * 5] = derivative(a * a * a * factor, a);
        if (auto always = t.when(i < n + 1u)) y[i + n * 6] = derivative(a * factor, a);
        val sum = [&] {
          val first = a + a;
          return t.let(first + a * a);
        }();
        y[i + n * 7] = derivative(sum, a);
        val wide = sin(cast<f64>(a)) * cast<f64>(b);
        y[i + n * 8] = cast<f32>(derivative(wide, a));
        var changing = a + b;
        val before = changing;
        changing = 7.0f;
        y[i + n * 9] = derivative(before * before, before);
      }
    });

inline constexpr u32 kink_rows = 8;
inline constexpr auto kink_slopes = kernel<"kink_slopes", 1>([](thread, in<f32> x, out<f32> y) {
  val zero = x[0u];
  val one = x[1u];
  val two = x[2u];
  y[0u] = derivative(abs(zero), zero);
  y[1u] = derivative(max(zero, 0.0f), zero);
  y[2u] = derivative(max(two * two, two * 2.0f) - min(two * 2.0f, two * two), two);
  y[3u] = derivative(min(one, 1.0f), one);
  y[4u] = derivative(clamp(one, 0.0f, 1.0f), one);
  y[5u] = derivative(saturate(one), one);
  y[6u] = derivative(max(0.0f, zero), zero);
  y[7u] = derivative(floor(one), one);
});

}  // namespace kaio::tests
