// The instructions of fast:: and fast::ftz::, and those of the 16-bit floats by the claimed target.
#include <kaio/dsl/dsl.hpp>

#include <cstddef>
#include <string_view>

using namespace kaio;

template <class Kernel>
constexpr std::size_t times(const Kernel& k, std::string_view text) {
  return k.ptx().count(text);
}

inline constexpr auto flushing = kernel<"flushing", 32>([](thread, in<f32> x, out<f32> y, val<u32> i) {
  y[i] = fast::ftz::exp(x[i]);
  y[i + 1] = fast::ftz::exp2(x[i]);
  y[i + 2] = fast::ftz::exp10(x[i]);
  y[i + 3] = fast::ftz::log(x[i]);
  y[i + 4] = fast::ftz::log10(x[i] + 1.0f);
  y[i + 5] = fast::ftz::sin(x[i]);
  y[i + 6] = fast::ftz::cos(x[i]);
  y[i + 7] = fast::ftz::rcp(x[i]);
  y[i + 8] = fast::ftz::rsqrt(x[i]);
  y[i + 9] = fast::ftz::sqrt(x[i]);
  y[i + 10] = fast::ftz::div(x[i], x[i + 1]);
});
static_assert(times(flushing, "ex2.approx.ftz.f32") == 3 && times(flushing, "lg2.approx.ftz.f32") == 2);
static_assert(times(flushing, "sin.approx.ftz.f32") == 1 && times(flushing, "cos.approx.ftz.f32") == 1);
static_assert(times(flushing, "rcp.approx.ftz.f32") == 1 && times(flushing, "div.approx.ftz.f32") == 1);
static_assert(times(flushing, "sqrt.approx.ftz.f32") == 2);  // rsqrt and sqrt
static_assert(times(flushing, ".approx.f32") == 0);

// A function of several instructions has none left that keeps subnormal numbers.
inline constexpr auto composed =
    kernel<"composed", 32>([](thread, in<f32> x, in<f16> h, out<f32> y, out<f16> z, val<u32> i) {
      const auto both = fast::ftz::sincos(x[i]);
      y[i] = both.sin + both.cos;
      y[i + 1] = fast::ftz::tan(x[i]);
      y[i + 2] = fast::ftz::sigmoid(x[i]);
      y[i + 3] = fast::ftz::pow(x[i], 2.5f);
      y[i + 4] = fast::ftz::log2(x[i]);
      z[i] = fast::ftz::exp2(h[i]);
    });
static_assert(times(composed, ".approx.f32") == 0 && times(composed, ".approx.ftz.f32") == 8);
static_assert(times(composed, "sin.approx") == 1 && times(composed, "cos.approx") == 1);

// Without .ftz nothing is flushed.
inline constexpr auto keeping = kernel<"keeping", 32>([](thread, in<f32> x, out<f32> y, val<u32> i) {
  y[i] = fast::sigmoid(x[i]);
  y[i + 1] = fast::pow(x[i], 2.5f);
  y[i + 2] = fast::tan(x[i]);
});
static_assert(times(keeping, ".ftz") == 0 && times(keeping, ".approx.f32") == 7);

// 16-bit floats, alone and in pairs: f16 has the instructions from sm_75 on, bf16 from sm_90 on.
template <class T, u32 Sm>
inline constexpr auto units =
    kernel<"units_" + type_name<T> + "_" + decimal<Sm>, 32, kernel_options{.target = {Sm}}>(
        [](thread, in<T> x, out<T> y, val<u32> i) {
          y[i] = fast::exp2(x[i]);
          y[i + 1] = fast::ftz::exp2(x[i]);
          y[i + 2] = fast::tanh(x[i]);
        });
static_assert(times(units<f16x2, 70>, "ex2.approx.f32") == 2 &&
              times(units<f16x2, 70>, "ex2.approx.ftz.f32") == 2);
static_assert(times(units<f16x2, 70>, ".f16x2") == 0);
static_assert(times(units<f16x2, 75>, "ex2.approx.f16x2") == 1 &&
              times(units<f16x2, 75>, "tanh.approx.f16x2") == 1);
static_assert(times(units<f16x2, 75>, "cvt") == 2 && times(units<f16x2, 75>, "cvta.to") == 2);
static_assert(times(units<f16, 75>, "ex2.approx.f16 ") == 1 &&
              times(units<f16, 75>, "tanh.approx.f16 ") == 1);
static_assert(times(units<bf16x2, 80>, ".approx.bf16x2") == 0 &&
              times(units<bf16x2, 80>, "tanh.approx.f32") == 2);
static_assert(times(units<bf16x2, 90>, "ex2.approx.ftz.bf16x2") == 1);
static_assert(times(units<bf16x2, 90>, "tanh.approx.bf16x2") == 1);
static_assert(times(units<bf16, 90>, "ex2.approx.ftz.bf16 ") == 1);
static_assert(times(units<bf16, 90>, "tanh.approx.bf16 ") == 1);
static_assert(units<f16x2, 75>.needs().version == ptx::isa_version{7, 0});
static_assert(units<bf16x2, 90>.needs().version == ptx::isa_version{7, 8});

// The other operations on pairs.
template <class T, u32 Sm>
inline constexpr auto pairs =
    kernel<"pairs_" + type_name<T> + "_" + decimal<Sm>, 32, kernel_options{.target = {Sm}}>(
        [](thread, in<T> x, out<T> y, val<u32> i) {
          y[i] = fma(x[i], x[i + 1], 0.5f);
          y[i + 1] = min(x[i], x[i + 1]);
          y[i + 2] = max(x[i], 0.0f);
          y[i + 3] = x[i] + x[i + 1];
          y[i + 4] = x[i] - x[i + 1];
          y[i + 5] = x[i] * x[i + 1];
          y[i + 6] = -x[i];
          y[i + 7] = abs(x[i]);
        });
static_assert(times(pairs<f16x2, 80>, "fma.rn.f16x2") == 1 && times(pairs<f16x2, 80>, "mul.rn.f16x2") == 1);
static_assert(times(pairs<f16x2, 80>, "min.f16x2") == 1 && times(pairs<f16x2, 80>, "max.f16x2") == 1);
static_assert(times(pairs<bf16x2, 80>, "fma.rn.bf16x2") == 4 && times(pairs<bf16x2, 80>, "max.bf16x2") == 1);
static_assert(times(pairs<bf16x2, 90>, "add.rn.bf16x2") == 1 &&
              times(pairs<bf16x2, 90>, "mul.rn.bf16x2") == 1);
static_assert(times(pairs<bf16x2, 90>, "sub.rn.bf16x2") == 1 && times(pairs<bf16x2, 90>, "neg.bf16x2") == 1);
static_assert(times(pairs<bf16x2, 90>, "abs.bf16x2") == 1 && times(pairs<bf16x2, 90>, ".f32") == 0);

// A NaN operand is the result: one instruction from sm_80 on, selected before.
template <class T, u32 Sm>
inline constexpr auto nan_extremes =
    kernel<"nan_extremes_" + type_name<T> + "_" + decimal<Sm>, 32, kernel_options{.target = {Sm}}>(
        [](thread, in<T> x, out<T> y, val<u32> i) {
          y[i] = min_nan(x[i], x[i + 1]);
          y[i + 1] = max_nan(x[i], 0.5f);
        });
static_assert(times(nan_extremes<f16x2, 80>, "min.NaN.f16x2") == 1);
static_assert(times(nan_extremes<f16x2, 80>, "max.NaN.f16x2") == 1);
static_assert(times(nan_extremes<bf16x2, 80>, "min.NaN.bf16x2") == 1);
static_assert(times(nan_extremes<f32, 80>, "max.NaN.f32") == 1);
static_assert(nan_extremes<f32, 80>.needs().target == ptx::target{80, false});
static_assert(times(nan_extremes<f32, 70>, ".NaN") == 0 && times(nan_extremes<f64, 80>, ".NaN") == 0);
static_assert(nan_extremes<f32, 70>.needs().target == ptx::target{70, false});
